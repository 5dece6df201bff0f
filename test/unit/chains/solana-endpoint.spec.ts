import assert from 'node:assert/strict';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { type Chains, type ChainsOptions, createChains } from '../../../shared/chains/chains.js';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import type { SolanaPaymentQuery } from '../../../shared/chains/solana/solana.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { forEachTest } from '../../support/hooks.js';
import { assertFound, assertPaid, assertUnreadable, FAULTS } from './assert-found.js';
import { buildSolanaPayment, DEVNET } from './solana-payment.js';
import { UNPACED } from './unpaced.js';

describe('a Solana endpoint', () => {
  const chain = forEachTest(() => SolanaChain.start(DEVNET));
  let chains: Chains;
  let blockhash: string;
  let payment: SolanaPaymentQuery;

  beforeEach(() => {
    chains = openChains();
    blockhash = chain.issueBlockhash();
    payment = buildSolanaPayment(blockhash).query;
  });

  afterEach(() => {
    resetClock();
    chains.close();
  });

  const openChains = (options: ChainsOptions = {}): Chains =>
    createChains(new Map([['SOLANA_DEVNET', chain.endpoint.url]]), { pace: UNPACED, ...options });

  /** The finding of a second check. */
  async function checkedBefore(): Promise<SolanaPaymentQuery> {
    const first = await chains.check(payment);
    assert.ok(first.kind === 'unused');
    return { ...payment, position: first.position };
  }

  const assertSearching = (finding: Promise<ChainFinding>, reason: RegExp): Promise<void> =>
    assertFound('searching', finding, reason);

  const methods = ['getGenesisHash', 'getSlot', 'getBlockTime', 'getSignaturesForAddress'];
  for (const [fault, reason] of FAULTS) {
    for (const method of methods) {
      it(`that fails with ${fault} at ${method} is unreadable, and shows the payment when it recovers`, async () => {
        chain.movePayment(payment.signedTransaction);
        chain.endpoint.fail(fault, method);
        await assertUnreadable(chains.check(payment), reason);
        chain.endpoint.recover();
        assert.equal((await chains.check(payment)).kind, 'paid');
      });
    }

    for (const method of ['getTransaction', 'getSignatureStatuses']) {
      it(`that fails with ${fault} at ${method} is searching, and shows the payment when it recovers`, async () => {
        const transactionHint = chain.movePayment(payment.signedTransaction);
        chain.travel(200);
        chain.endpoint.fail(fault, method);
        await assertSearching(chains.check(payment), /./);
        await assertSearching(chains.check({ ...payment, transactionHint }), /./);
        chain.endpoint.recover();
        assert.equal((await chains.check(payment)).kind, 'paid');
      });
    }

    it(`that fails with ${fault} at isBlockhashValid leaves the expiry open`, async () => {
      const again = await checkedBefore();
      chain.travel(200);
      chain.endpoint.fail(fault, 'isBlockhashValid');
      await assertSearching(chains.check(again), reason);
    });

    it(`that fails with ${fault} after its root was read reports the chain time`, async () => {
      chain.endpoint.fail(fault, 'getSignaturesForAddress');
      const found = await chains.check(payment);
      assert.ok(found.kind === 'unreadable' && found.chainTime !== undefined);
    });

    it(`that fails with ${fault} at isBlockhashValid still shows a landed payment`, async () => {
      const again = await checkedBefore();
      chain.movePayment(payment.signedTransaction);
      chain.travel(200);
      chain.endpoint.fail(fault, 'isBlockhashValid');
      assert.equal((await chains.check(again)).kind, 'paid');
    });
  }

  it('that refuses connections is unreadable', async () => {
    await chain.endpoint.close();
    await assertUnreadable(chains.check(payment), /ECONNREFUSED/);
  });

  it('of another cluster is unreadable, whatever it holds', async () => {
    chain.movePayment(payment.signedTransaction);
    chain.genesisHash = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
    await assertUnreadable(chains.check(payment), /another Solana cluster/);
  });

  it('that does not report whether the transaction succeeded leaves the payment open', async () => {
    const transactionHint = chain.movePayment(payment.signedTransaction);
    chain.includesMeta = false;
    chain.travel(200);
    await assertSearching(chains.check({ ...payment, transactionHint }), /whether the transaction succeeded/);
    await assertSearching(chains.check(payment), /cannot be read/);
  });

  it('without block times is unreadable', async () => {
    chain.includesTimes = false;
    await assertUnreadable(chains.check(payment), /no time for slot/);
  });

  it('whose finalized block is an hour old reports only the time of that block', async () => {
    advanceClock(3_600_000);
    const found = await chains.check(payment);
    assert.ok(found.kind === 'unused' && !found.exhausted);
    assert.ok(nowMs() - found.chainTime.getTime() > 3_600_000);
    const transactionHint = chain.movePayment(payment.signedTransaction);
    assert.equal((await chains.check({ ...payment, transactionHint })).kind, 'paid');
  });

  it('whose lists lag behind its own head, as with several nodes, is searching', async () => {
    chain.lag.set('getSignaturesForAddress', 31);
    await assertSearching(chains.check(payment), /error -32016/);
  });

  it('whose blockhashes lag behind its own head leaves the expiry open', async () => {
    const again = await checkedBefore();
    chain.travel(200);
    chain.lag.set('isBlockhashValid', 1);
    await assertSearching(chains.check(again), /error -32016/);
  });

  it('whose ledger begins after the payment proves nothing', async () => {
    const again = await checkedBefore();
    const transaction = chain.movePayment(payment.signedTransaction);
    chain.travel(300);
    chain.ledgerFrom = chain.slot - 100;
    const pruned = await chains.check(again);
    assert.ok(pruned.kind === 'searching' && pruned.position?.account === undefined);
    chain.ledgerFrom = 0;
    await assertPaid(chains.check({ ...payment, position: pruned.position }), transaction);
  });

  it('whose ledger begins long before the claim proves that nothing has landed', async () => {
    chain.ledgerFrom = chain.slot;
    chain.travel(1000);
    payment = { ...buildSolanaPayment(chain.issueBlockhash()).query, notBefore: chain.time };
    const again = await checkedBefore();
    chain.travel(200);
    const found = await chains.check(again);
    assert.ok(found.kind === 'unused' && found.exhausted);
  });

  for (const requestsBefore of [0, 1]) {
    it(`of two nodes, of which one has a short ledger, proves nothing (${requestsBefore})`, async () => {
      const again = await checkedBefore();
      chain.movePayment(payment.signedTransaction);
      chain.travel(300);
      const start = chain.slot;
      let requests = requestsBefore;
      chain.endpoint.onCall = () => {
        requests += 1;
        chain.ledgerFrom = requests % 2 === 0 ? start : 0;
      };
      const found = await chains.check(again);
      assert.ok(found.kind === 'paid' || found.kind === 'searching', found.kind);
    });
  }

  it('of two nodes proves nothing when the one with a short ledger lists, and the other first says where its ledger begins', async () => {
    const again = await checkedBefore();
    chain.movePayment(payment.signedTransaction);
    chain.travel(300);
    const start = chain.slot;
    let starts = 0;
    chain.endpoint.onCall = (method) => {
      if (method === 'getFirstAvailableBlock') starts += 1;
      chain.ledgerFrom = method === 'getFirstAvailableBlock' && starts === 1 ? 0 : start;
    };
    assert.equal((await chains.check(again)).kind, 'searching');
  });

  for (const minutes of [15, 60]) {
    it(`shows a payment although the chain's clock is ${minutes} min behind ours`, async () => {
      const late = { ...payment, notBefore: new Date(chain.time.getTime() + minutes * 60_000) };
      const first = await chains.check(late);
      assert.ok(first.kind === 'unused');
      chain.movePayment(payment.signedTransaction);
      chain.travel(minutes * 60 + 300);
      assert.equal((await chains.check({ ...late, position: first.position })).kind, 'paid');
    });
  }

  it('without a method for the start of its ledger counts as complete', async () => {
    chain.ledgerFrom = chain.slot;
    chain.endpoint.fail('unknown_method', 'getFirstAvailableBlock');
    assert.equal((await chains.check(payment)).kind, 'unused');
    chain.endpoint.fail('http_500', 'getFirstAvailableBlock');
    assert.equal((await chains.check(payment)).kind, 'searching');
  });

  it('that takes 300 ms for an answer shows the payment in a check of 2 s', async () => {
    await chains.check(payment);
    chain.movePayment(payment.signedTransaction);
    chain.endpoint.delayMs = 300;
    assert.equal((await chains.check(payment, { withinMs: 2000 })).kind, 'paid');
  });

  it('that lists a transaction which it does not have is searching', async () => {
    chain.hiddenByName.add(chain.movePayment(payment.signedTransaction));
    chain.travel(200);
    await assertSearching(chains.check(payment), /cannot be read/);
  });

  it('that does not know the status of a transaction that it has leaves it pending', async () => {
    const transaction = chain.movePayment(payment.signedTransaction);
    chain.lag.set('getSignatureStatuses', 10);
    assert.deepEqual(await chains.check(payment), { kind: 'pending', transaction });
  });

  it('that keeps a finalized transaction without its status shows the payment', async () => {
    chain.movePayment(payment.signedTransaction);
    chain.travel(60);
    chain.forgetsStatuses = true;
    const found = await chains.check(payment);
    assert.deepEqual(found.kind === 'paid' && found.confirmations, 2);
  });

  it('is searched past transactions of a version that no payment has', async () => {
    const { buyer, query } = buildSolanaPayment(blockhash);
    const other = buildSolanaPayment(blockhash, { buyer }).query;
    chain.ofLaterVersion.add(chain.movePayment(other.signedTransaction));
    assert.equal((await chains.check(query)).kind, 'unused');
    chain.movePayment(query.signedTransaction);
    assert.equal((await chains.check(query)).kind, 'paid');
  });

  it('is read page by page', async () => {
    const { buyer, query } = buildSolanaPayment(blockhash);
    chain.movePayment(query.signedTransaction);
    chain.landMany(buildSolanaPayment(blockhash, { buyer }).query.signedTransaction, 1500);
    assert.equal((await chains.check(query)).kind, 'paid');
    assert.equal(chain.endpoint.callsOf('getSignaturesForAddress'), 3);
  });

  it('is read for as many pages as there are', async () => {
    // A busy machine needs longer for six pages than a check may take.
    chains.close();
    chains = openChains({ checkTimeoutMs: 50_000 });
    const { buyer, query } = buildSolanaPayment(blockhash);
    const transaction = chain.movePayment(query.signedTransaction);
    const other = buildSolanaPayment(blockhash, { buyer, payTo: query.payTo }).query;
    chain.landMany(other.signedTransaction, 6000);
    await assertPaid(chains.check(query), transaction);
    assert.equal(chain.endpoint.callsOf('getTransaction'), 1);
  });

  it('is not read for pages from before the claim', async () => {
    const { buyer, query } = buildSolanaPayment(blockhash);
    chain.landMany(buildSolanaPayment(blockhash, { buyer }).query.signedTransaction, 3000);
    chain.travel(3600);
    chain.movePayment(query.signedTransaction);
    const notBefore = new Date(query.notBefore.getTime() + 3_600_000);
    assert.equal((await chains.check({ ...query, notBefore })).kind, 'paid');
    assert.equal(chain.endpoint.callsOf('getSignaturesForAddress'), 1);
  });
});
