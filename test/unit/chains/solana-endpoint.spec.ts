import assert from 'node:assert/strict';
import type { Fault } from '../../../lab/world/chains/chain.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { type Chains, createChains } from '../../../shared/chains/confirmation.js';
import type { ChainFinding } from '../../../shared/chains/finding.js';
import type { SolanaPaymentQuery } from '../../../shared/chains/solana.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { buildSolanaPayment, DEVNET } from './solana-payment.js';

describe('a Solana endpoint', () => {
  let chain: SolanaChain;
  let chains: Chains;
  let blockhash: string;
  let payment: SolanaPaymentQuery;

  beforeEach(async () => {
    chain = await SolanaChain.start(DEVNET);
    chains = createChains(new Map([['SOLANA_DEVNET', chain.endpoint.url]]));
    blockhash = chain.issueBlockhash();
    payment = buildSolanaPayment(blockhash).query;
  });

  afterEach(async () => {
    resetClock();
    chains.close();
    await chain.close();
  });

  async function assertFound(
    kind: 'unreadable' | 'searching',
    finding: Promise<ChainFinding>,
    reason: RegExp,
  ): Promise<void> {
    const found = await finding;
    assert.equal(found.kind, kind);
    assert.match('reason' in found ? found.reason : '', reason);
  }

  /** Of a look that is not the first one. */
  async function lookedUpBefore(): Promise<SolanaPaymentQuery> {
    const first = await chains.lookUp(payment);
    assert.ok(first.kind === 'unused');
    return { ...payment, place: first.place };
  }

  const assertUnreadable = (finding: Promise<ChainFinding>, reason: RegExp): Promise<void> =>
    assertFound('unreadable', finding, reason);
  const assertSearching = (finding: Promise<ChainFinding>, reason: RegExp): Promise<void> =>
    assertFound('searching', finding, reason);

  const faults: [fault: Fault, reason: RegExp][] = [
    ['cut', /cannot be reached: UND_ERR_SOCKET|cannot be reached: ECONNRESET/],
    ['http_500', /HTTP 500/],
    ['http_429', /HTTP 429/],
    ['garbage', /cannot be used/],
    ['wrong_shape', /./],
  ];
  const methods = ['getGenesisHash', 'getSlot', 'getBlockTime', 'getSignaturesForAddress'];
  for (const [fault, reason] of faults) {
    for (const method of methods) {
      it(`that fails by ${fault} at ${method} says nothing, and all when it is back`, async () => {
        chain.movePayment(payment.signedTransaction);
        chain.endpoint.fail(fault, method);
        await assertUnreadable(chains.lookUp(payment), reason);
        chain.endpoint.recover();
        assert.equal((await chains.lookUp(payment)).kind, 'paid');
      });
    }

    for (const method of ['getTransaction', 'getSignatureStatuses']) {
      it(`that fails by ${fault} at ${method} is not done, and says all when it is back`, async () => {
        const transactionHint = chain.movePayment(payment.signedTransaction);
        chain.travel(200);
        chain.endpoint.fail(fault, method);
        await assertSearching(chains.lookUp(payment), /./);
        await assertSearching(chains.lookUp({ ...payment, transactionHint }), /./);
        chain.endpoint.recover();
        assert.equal((await chains.lookUp(payment)).kind, 'paid');
      });
    }

    it(`that fails by ${fault} when asked for the blockhash leaves open whether it has expired`, async () => {
      const again = await lookedUpBefore();
      chain.travel(200);
      chain.endpoint.fail(fault, 'isBlockhashValid');
      await assertSearching(chains.lookUp(again), reason);
    });

    it(`that fails by ${fault} after its root was read says how far its time has come`, async () => {
      chain.endpoint.fail(fault, 'getSignaturesForAddress');
      const found = await chains.lookUp(payment);
      assert.ok(found.kind === 'unreadable' && found.chainTime !== undefined);
    });

    it(`that fails by ${fault} when asked for the blockhash still shows what has landed`, async () => {
      const again = await lookedUpBefore();
      chain.movePayment(payment.signedTransaction);
      chain.travel(200);
      chain.endpoint.fail(fault, 'isBlockhashValid');
      assert.equal((await chains.lookUp(again)).kind, 'paid');
    });
  }

  it('that refuses connections says nothing', async () => {
    await chain.endpoint.close();
    await assertUnreadable(chains.lookUp(payment), /ECONNREFUSED/);
  });

  it('of another cluster says nothing, whatever it holds', async () => {
    chain.movePayment(payment.signedTransaction);
    chain.genesisHash = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
    await assertUnreadable(chains.lookUp(payment), /another Solana cluster/);
  });

  it('that does not tell whether the transaction succeeded leaves it in doubt', async () => {
    const transactionHint = chain.movePayment(payment.signedTransaction);
    chain.includesMeta = false;
    chain.travel(200);
    await assertSearching(
      chains.lookUp({ ...payment, transactionHint }),
      /whether the transaction succeeded/,
    );
    await assertSearching(chains.lookUp(payment), /cannot be read/);
  });

  it('that tells no block times says nothing', async () => {
    chain.includesTimes = false;
    await assertUnreadable(chains.lookUp(payment), /no time for slot/);
  });

  it('whose finalized block is an hour old says until when it has seen, and no more', async () => {
    advanceClock(3_600_000);
    const found = await chains.lookUp(payment);
    assert.ok(found.kind === 'unused' && !found.exhausted);
    assert.ok(nowMs() - found.chainTime.getTime() > 3_600_000);
    const transactionHint = chain.movePayment(payment.signedTransaction);
    assert.equal((await chains.lookUp({ ...payment, transactionHint })).kind, 'paid');
  });

  it('that lags behind its own head with its lists, as one of several nodes does, has more to say', async () => {
    chain.lag.set('getSignaturesForAddress', 31);
    await assertSearching(chains.lookUp(payment), /error -32016/);
  });

  it('that lags behind its own head with its blockhashes leaves open whether it has expired', async () => {
    const again = await lookedUpBefore();
    chain.travel(200);
    chain.lag.set('isBlockhashValid', 1);
    await assertSearching(chains.lookUp(again), /error -32016/);
  });

  it('whose ledger begins after the payment proves nothing', async () => {
    const again = await lookedUpBefore();
    const transaction = chain.movePayment(payment.signedTransaction);
    chain.travel(300);
    chain.ledgerFrom = chain.slot - 100;
    const pruned = await chains.lookUp(again);
    assert.ok(pruned.kind === 'searching' && pruned.place?.account === undefined);
    chain.ledgerFrom = 0;
    const whole = await chains.lookUp({ ...payment, place: pruned.place });
    assert.equal(whole.kind === 'paid' && whole.transaction, transaction);
  });

  it('whose ledger begins long before the claim proves that nothing has landed', async () => {
    chain.ledgerFrom = chain.slot;
    chain.travel(1000);
    payment = { ...buildSolanaPayment(chain.issueBlockhash()).query, notBefore: chain.time };
    const again = await lookedUpBefore();
    chain.travel(200);
    const found = await chains.lookUp(again);
    assert.ok(found.kind === 'unused' && found.exhausted);
  });

  it('that cannot be asked where its ledger begins is taken to have all of it', async () => {
    chain.ledgerFrom = chain.slot;
    chain.endpoint.fail('unknown_method', 'getFirstAvailableBlock');
    assert.equal((await chains.lookUp(payment)).kind, 'unused');
    chain.endpoint.fail('http_500', 'getFirstAvailableBlock');
    assert.equal((await chains.lookUp(payment)).kind, 'searching');
  });

  it('that takes 300 ms for an answer shows the payment in a look of 2 s', async () => {
    await chains.lookUp(payment);
    chain.movePayment(payment.signedTransaction);
    chain.endpoint.delayMs = 300;
    assert.equal((await chains.lookUp(payment, { withinMs: 2000 })).kind, 'paid');
  });

  it('that lists a transaction which it does not have is not done', async () => {
    chain.hiddenByName.add(chain.movePayment(payment.signedTransaction));
    chain.travel(200);
    await assertSearching(chains.lookUp(payment), /cannot be read/);
  });

  it('that does not know the status of a transaction that it has waits', async () => {
    const transaction = chain.movePayment(payment.signedTransaction);
    chain.lag.set('getSignatureStatuses', 10);
    assert.deepEqual(await chains.lookUp(payment), { kind: 'pending', transaction });
  });

  it('passes over transactions of a version that no payment has', async () => {
    const { buyer, query } = buildSolanaPayment(blockhash);
    chain.ofLaterVersion.add(
      chain.movePayment(buildSolanaPayment(blockhash, { buyer }).query.signedTransaction),
    );
    assert.equal((await chains.lookUp(query)).kind, 'unused');
    chain.movePayment(query.signedTransaction);
    assert.equal((await chains.lookUp(query)).kind, 'paid');
  });

  it('is asked page by page', async () => {
    const { buyer, query } = buildSolanaPayment(blockhash);
    chain.movePayment(query.signedTransaction);
    chain.landMany(buildSolanaPayment(blockhash, { buyer }).query.signedTransaction, 1500);
    assert.equal((await chains.lookUp(query)).kind, 'paid');
    assert.equal(chain.endpoint.callsOf('getSignaturesForAddress'), 3);
  });

  it('is asked for as many pages as there are', async function () {
    this.timeout(30_000);
    const { buyer, query } = buildSolanaPayment(blockhash);
    const transaction = chain.movePayment(query.signedTransaction);
    chain.landMany(
      buildSolanaPayment(blockhash, { buyer, payTo: query.payTo }).query.signedTransaction,
      6000,
    );
    const found = await chains.lookUp(query);
    assert.equal(found.kind === 'paid' && found.transaction, transaction);
    assert.equal(chain.endpoint.callsOf('getTransaction'), 1);
  });

  it('is asked for no page from before the claim', async () => {
    const { buyer, query } = buildSolanaPayment(blockhash);
    chain.landMany(buildSolanaPayment(blockhash, { buyer }).query.signedTransaction, 3000);
    chain.travel(3600);
    chain.movePayment(query.signedTransaction);
    const notBefore = new Date(query.notBefore.getTime() + 3_600_000);
    assert.equal((await chains.lookUp({ ...query, notBefore })).kind, 'paid');
    assert.equal(chain.endpoint.callsOf('getSignaturesForAddress'), 1);
  });
});
