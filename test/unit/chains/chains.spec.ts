import assert from 'node:assert/strict';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { type Chains, createChains } from '../../../shared/chains/chains.js';
import { unmockedHostMs } from '../../../shared/process/clock.js';
import { forEachTest } from '../../support/hooks.js';
import { buildEvmQuery } from './evm-payment.js';
import { buildSolanaPayment, DEVNET, randomKey } from './solana-payment.js';
import { UNPACED } from './unpaced.js';

describe('the chains', () => {
  const evm = forEachTest(() => EvmChain.start(84532));
  const solana = forEachTest(() => SolanaChain.start(DEVNET));
  const chains = forEachTest(() => open(10_000));

  afterEach(async () => {
    chains.close();
    await Promise.all([evm.close(), solana.close()]);
  });

  function open(checkTimeoutMs: number): Chains {
    const urls = { EIP155_84532: evm.endpoint.url, SOLANA_DEVNET: solana.endpoint.url };
    return createChains(new Map(Object.entries(urls)), { checkTimeoutMs });
  }

  it('are each queried at their own endpoint', async () => {
    const ofEvm = buildEvmQuery();
    const ofSolana = buildSolanaPayment(solana.issueBlockhash()).query;
    evm.movePayment(ofEvm);
    solana.movePayment(ofSolana.signedTransaction);
    const findings = await Promise.all([chains.check(ofEvm), chains.check(ofSolana)]);
    for (const { kind } of findings) assert.equal(kind, 'paid');
  });

  it('are unreadable for a network that is not in the table', async () => {
    const finding = await chains.check(buildEvmQuery({ network: 'eip155:31337' }));
    assert.deepEqual(finding, { kind: 'unreadable', reason: 'no network is called eip155:31337' });
  });

  it('are unreadable for a payment of the other family', async () => {
    const finding = await chains.check(buildEvmQuery({ network: DEVNET }));
    assert.deepEqual(finding, { kind: 'unreadable', reason: `${DEVNET} is not of the family evm` });
  });

  it('are unreadable for a payment with malformed fields', async () => {
    for (const parts of [{ asset: 'USDC' }, { from: '' }, { payTo: randomKey() }, { nonce: '0x01' }]) {
      assert.equal((await chains.check(buildEvmQuery(parts))).kind, 'unreadable');
    }
    const { query } = buildSolanaPayment(solana.issueBlockhash());
    for (const parts of [{ signedTransaction: 'AAAA' }, { payTo: '0x00' }, { mint: '' }]) {
      assert.equal((await chains.check({ ...query, ...parts })).kind, 'unreadable');
    }
  });

  const tooSlow = { kind: 'unreadable', reason: 'the endpoint took longer than 50 ms' };
  for (const fault of ['hang', 'stall'] as const) {
    for (const method of ['eth_chainId', 'eth_call']) {
      it(`end a check in time when ${method} of an EVM endpoint meets a ${fault}`, async () => {
        evm.endpoint.fail(fault, method);
        const { kind, ...rest } = await open(50).check(buildEvmQuery());
        assert.deepEqual([kind, 'reason' in rest && rest.reason], [tooSlow.kind, tooSlow.reason]);
      });
    }

    it(`end a check in time when a Solana endpoint meets a ${fault}`, async () => {
      solana.endpoint.fail(fault, 'getSlot');
      const { query } = buildSolanaPayment(solana.issueBlockhash());
      assert.deepEqual(await open(50).check(query), tooSlow);
    });
  }

  it('end a check whose requests are each in time but not together', async () => {
    evm.endpoint.delayMs = 40;
    assert.deepEqual(await open(50).check(buildEvmQuery()), tooSlow);
  });

  it('end a check in time when the pause between retries is longer', async () => {
    const urls = new Map([['SOLANA_DEVNET', solana.endpoint.url]]);
    const patient = createChains(urls, { checkTimeoutMs: 400, retryPauseMs: 10_000 });
    solana.lag.set('getSignaturesForAddress', 31);
    const { query } = buildSolanaPayment(solana.issueBlockhash());
    const startedMs = unmockedHostMs();
    const { kind } = await patient.check(query);
    assert.ok(kind === 'searching' || kind === 'unreadable', kind);
    assert.ok(unmockedHostMs() - startedMs < 8000);
    patient.close();
  });

  it('abort the checks in flight when they are closed, and start no more', async () => {
    evm.endpoint.fail('hang');
    const waits = evm.endpoint.someoneWaits();
    const finding = chains.check(buildEvmQuery());
    await waits;
    chains.close();
    const reason = 'the process is shutting down';
    assert.deepEqual(await finding, { kind: 'unreadable', reason });
    evm.endpoint.recover();
    assert.deepEqual(await chains.check(buildEvmQuery()), { kind: 'unreadable', reason });
  });

  it("never reveal an endpoint's URL, which may hold a key", async () => {
    const secret = 'k3y-0f-the-operator';
    const withKey = (url: string): string => `${url}/v2/${secret}`;
    const urls = { EIP155_84532: withKey(evm.endpoint.url), SOLANA_DEVNET: withKey(solana.endpoint.url) };
    const keyed = createChains(new Map(Object.entries(urls)), { pace: UNPACED });
    const queries = [buildEvmQuery(), buildSolanaPayment(solana.issueBlockhash()).query];
    for (const fault of ['http_500', 'http_429', 'cut', 'garbage', 'wrong_shape'] as const) {
      for (const { endpoint } of [evm, solana]) endpoint.fail(fault);
      for (const query of queries) {
        const finding = JSON.stringify(await keyed.check(query));
        assert.match(finding, /unreadable/);
        assert.doesNotMatch(finding, new RegExp(`${secret}|127\\.0\\.0\\.1`));
      }
    }
    keyed.close();
  });
});
