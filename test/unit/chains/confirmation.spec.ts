import assert from 'node:assert/strict';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { type Chains, createChains } from '../../../shared/chains/confirmation.js';
import { unmockedHostMs } from '../../../shared/process/clock.js';
import { buildEvmQuery } from './evm-payment.js';
import { buildSolanaPayment, DEVNET, randomKey } from './solana-payment.js';

describe('the chains', () => {
  let evm: EvmChain;
  let solana: SolanaChain;
  let chains: Chains;

  beforeEach(async () => {
    evm = await EvmChain.start(84532);
    solana = await SolanaChain.start(DEVNET);
    chains = open(10_000);
  });

  afterEach(async () => {
    chains.close();
    await Promise.all([evm.close(), solana.close()]);
  });

  function open(lookTimeoutMs: number): Chains {
    const urls = { EIP155_84532: evm.endpoint.url, SOLANA_DEVNET: solana.endpoint.url };
    return createChains(new Map(Object.entries(urls)), { lookTimeoutMs });
  }

  it('are each asked at their own endpoint', async () => {
    const ofEvm = buildEvmQuery();
    const ofSolana = buildSolanaPayment(solana.issueBlockhash()).query;
    evm.movePayment(ofEvm);
    solana.movePayment(ofSolana.signedTransaction);
    const findings = await Promise.all([chains.lookUp(ofEvm), chains.lookUp(ofSolana)]);
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ['paid', 'paid'],
    );
  });

  it('say nothing of a network that is not in the table', async () => {
    const finding = await chains.lookUp(buildEvmQuery({ network: 'eip155:31337' }));
    assert.deepEqual(finding, { kind: 'unreadable', reason: 'no network is called eip155:31337' });
  });

  it('say nothing of a payment of the other family', async () => {
    const finding = await chains.lookUp(buildEvmQuery({ network: DEVNET }));
    assert.deepEqual(finding, { kind: 'unreadable', reason: `${DEVNET} is not of the family evm` });
  });

  it('say nothing of a payment whose parts are not what they are called', async () => {
    for (const parts of [{ asset: 'USDC' }, { from: '' }, { payTo: randomKey() }, { nonce: '0x01' }]) {
      assert.equal((await chains.lookUp(buildEvmQuery(parts))).kind, 'unreadable');
    }
    const { query } = buildSolanaPayment(solana.issueBlockhash());
    for (const parts of [{ signedTransaction: 'AAAA' }, { payTo: '0x00' }, { mint: '' }]) {
      assert.equal((await chains.lookUp({ ...query, ...parts })).kind, 'unreadable');
    }
  });

  const tooSlow = { kind: 'unreadable', reason: 'the endpoint took longer than 50 ms' };
  for (const fault of ['hang', 'stall'] as const) {
    for (const method of ['eth_chainId', 'eth_call']) {
      it(`end a look at an endpoint on which ${method} meets a ${fault}`, async () => {
        evm.endpoint.fail(fault, method);
        const { kind, ...said } = await open(50).lookUp(buildEvmQuery());
        assert.deepEqual([kind, 'reason' in said && said.reason], [tooSlow.kind, tooSlow.reason]);
      });
    }

    it(`end a look at a Solana endpoint that meets a ${fault}`, async () => {
      solana.endpoint.fail(fault, 'getSlot');
      const { query } = buildSolanaPayment(solana.issueBlockhash());
      assert.deepEqual(await open(50).lookUp(query), tooSlow);
    });
  }

  it('tell the time of the newest block, where that much could be read', async () => {
    evm.endpoint.fail('http_500', 'eth_call');
    const { kind, ...said } = await chains.lookUp(buildEvmQuery());
    const newest = new Date(evm.head.timestamp * 1000);
    assert.deepEqual([kind, 'chainTime' in said && said.chainTime], ['unreadable', newest]);
  });

  it('end a look whose requests are each in time but not together', async () => {
    evm.endpoint.delayMs = 40;
    assert.deepEqual(await open(50).lookUp(buildEvmQuery()), tooSlow);
  });

  it('end a look in time, however long the pause before a node is asked again', async () => {
    const urls = new Map([['SOLANA_DEVNET', solana.endpoint.url]]);
    const patient = createChains(urls, { lookTimeoutMs: 400, retryPauseMs: 10_000 });
    solana.lag.set('getSignaturesForAddress', 31);
    const { query } = buildSolanaPayment(solana.issueBlockhash());
    const startedMs = unmockedHostMs();
    const { kind } = await patient.lookUp(query);
    assert.ok(kind === 'searching' || kind === 'unreadable', kind);
    assert.ok(unmockedHostMs() - startedMs < 8000);
    patient.close();
  });

  it('end the looks under way when they are closed, and begin no more', async () => {
    evm.endpoint.fail('hang');
    const waits = evm.endpoint.someoneWaits();
    const finding = chains.lookUp(buildEvmQuery());
    await waits;
    chains.close();
    const reason = 'the process is shutting down';
    assert.deepEqual(await finding, { kind: 'unreadable', reason });
    evm.endpoint.recover();
    assert.deepEqual(await chains.lookUp(buildEvmQuery()), { kind: 'unreadable', reason });
  });

  it('never tell the address of an endpoint, which may hold a key', async () => {
    const secret = 'k3y-0f-the-operator';
    const withKey = (url: string): string => `${url}/v2/${secret}`;
    const urls = { EIP155_84532: withKey(evm.endpoint.url), SOLANA_DEVNET: withKey(solana.endpoint.url) };
    const keyed = createChains(new Map(Object.entries(urls)));
    const queries = [buildEvmQuery(), buildSolanaPayment(solana.issueBlockhash()).query];
    for (const fault of ['http_500', 'http_429', 'cut', 'garbage', 'wrong_shape'] as const) {
      for (const { endpoint } of [evm, solana]) endpoint.fail(fault);
      for (const query of queries) {
        const finding = JSON.stringify(await keyed.lookUp(query));
        assert.match(finding, /unreadable/);
        assert.doesNotMatch(finding, new RegExp(`${secret}|127\\.0\\.0\\.1`));
      }
    }
    keyed.close();
  });
});
