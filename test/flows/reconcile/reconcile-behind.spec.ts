import assert from 'node:assert/strict';
import type { Payment } from '../../../shared/payments/model.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import { countLines, openBooks } from '../../support/books.js';
import { BASE_SEPOLIA } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { NETWORKS, type RunOptions, runReconcile } from '../../support/reconcile-run.js';

describe('at an endpoint that is behind', () => {
  const books = forAllTests(() => openBooks('reconcile_behind'));
  afterEach(async () => {
    resetClock();
    await books.startOver();
  });

  async function pay(): Promise<Payment> {
    const { id } = await books.buildSession();
    await books.payByAgent(id);
    return await books.payment(id);
  }

  const run = (options: RunOptions = {}): ReturnType<typeof runReconcile> =>
    runReconcile(books, { networks: NETWORKS.slice(0, 1), ...options });

  for (const reader of ['report', 'worker'] as const)
    it(`a paid payment is unread by a ${reader}, and missing at most until the endpoint has caught up`, async () => {
      const { id: payment } = await pay();
      books.evm.lag.set('*', 1);
      // The payment is now older than those that a worker leaves to its next run.
      advanceClock(20 * 60_000);
      for (let runs = 0; runs < 2; runs += 1) {
        const { lines, summary } = await run({ reader });
        const said = lines.map(({ status, because }) => [status, because]);
        assert.deepEqual(said, reader === 'report' ? [['missing', 'endpoint_behind']] : []);
        const ofPayments = summary.unread.filter((unread) => unread.payment !== undefined);
        assert.deepEqual(ofPayments, [
          { network: BASE_SEPOLIA, payment, reason: 'the endpoint is behind this payment' },
        ]);
      }
      books.evm.lag.clear();
      books.evm.mine();
      const { lines, summary } = await run({ reader });
      assert.deepEqual([countLines(lines), summary.unread], [{ matched: 1 }, []]);
    });

  it('a paid payment is not missing while our clock is behind the chain', async () => {
    // The chain's clock alone: the authorization has not ended there.
    books.evm.travel(120);
    books.evm.mine();
    const { id: payment } = await pay();
    books.evm.lag.set('*', 1);
    const { lines, summary } = await run();
    assert.deepEqual(
      lines.map(({ status, because }) => [status, because]),
      [['missing', 'endpoint_behind']],
    );
    assert.deepEqual(summary.unread, [
      { network: BASE_SEPOLIA, payment, reason: "our clock is behind the chain's" },
    ]);
    books.evm.lag.clear();
    assert.deepEqual(countLines((await run()).lines), { matched: 1 });
  });

  for (const firstBehind of [true, false])
    it(`by one of two nodes, money is told when both have it: ${firstBehind ? 'it' : 'the other'} answers first`, async () => {
      const { id } = await books.buildSession();
      books.arrives({ nonce: books.app.references.nonceOf(id) });
      books.evm.mine(35);
      // The nodes take turns, also while a run only asks where they are.
      books.evm.nodes.spread(firstBehind ? [0, 40] : [40, 0]);
      assert.deepEqual((await run()).summary.unread, []);
      books.evm.mine(35);
      const { lines } = await run();
      assert.deepEqual(countLines(lines), { unrecorded: 1 });
      // Ten minutes of a chain.
      books.evm.mineAt(15, 40);
      const { lines: none, summary } = await run();
      assert.equal(none.length, 0);
      assert.deepEqual(summary.unread, [
        { network: BASE_SEPOLIA, reason: 'a node of the endpoint is more than a minute behind another' },
      ]);
    });

  it('by more than some minutes, each network is unread, also by the first run that ever asks', async () => {
    books.evm.halt();
    books.solana.halt();
    const { id } = await books.buildSession();
    books.arrives({ nonce: books.app.references.nonceOf(id) });
    advanceClock(9 * 60_000);
    assert.deepEqual((await run({ networks: NETWORKS })).summary.unread, []);
    advanceClock(2 * 60_000);
    for (const reader of ['report', 'repair', 'worker'] as const) {
      const { summary } = await run({ networks: NETWORKS, reader });
      assert.deepEqual(
        summary.unread.map(({ network, reason }) => [network, reason.replace(/ of \d.*/, '')]).sort(),
        NETWORKS.map(({ caip2 }) => [caip2, "the endpoint's newest block is"]).sort(),
      );
    }
    books.evm.resume();
    books.solana.resume();
    books.evm.mine(2);
    books.solana.pass(100);
    const { lines, summary } = await run({ networks: NETWORKS });
    assert.deepEqual([countLines(lines), summary.unread], [{ unrecorded: 1 }, []]);
  });

  it('by a node that answers some calls after a search, the network is unread', async () => {
    const { id } = await books.buildSession();
    books.arrives({ nonce: books.app.references.nonceOf(id) });
    let sinceSearch = Number.POSITIVE_INFINITY;
    books.evm.endpoint.onCall = (method) => {
      sinceSearch = method === 'eth_getLogs' ? 0 : sinceSearch + 1;
      books.evm.lag.set('*', sinceSearch === 3 ? 40 : 0);
    };
    const { lines, summary } = await run();
    assert.deepEqual(lines, []);
    assert.deepEqual(summary.unread, [
      { network: BASE_SEPOLIA, reason: 'the endpoint is behind the blocks that it searched' },
    ]);
  });

  it('by the node that searched alone, the blocks of some minutes are read again', async () => {
    const { id } = await books.buildSession();
    books.arrives({ nonce: books.app.references.nonceOf(id) });
    books.evm.mine(35);
    books.evm.lag.set('eth_getLogs', 200);
    for (let runs = 0; runs < 2; runs += 1) {
      assert.deepEqual((await run()).lines, []);
      books.evm.mineAt(2, 40);
    }
    books.evm.lag.clear();
    assert.deepEqual(countLines((await run()).lines), { unrecorded: 1 });
  });

  it('by hours of a chain with many blocks, what was told is not told again', async () => {
    const { id } = await books.buildSession();
    books.evm.mineAt(1, 10_100);
    advanceClock(3 * 3_600_000);
    books.arrives({ nonce: books.app.references.nonceOf(id) });
    books.evm.mine();
    assert.deepEqual(countLines((await run()).lines), { unrecorded: 1 });
    books.evm.lag.set('*', 10_100);
    const reason = 'the endpoint is behind what an earlier run has read';
    assert.deepEqual((await run()).summary.unread, [{ network: BASE_SEPOLIA, reason }]);
    books.evm.lag.clear();
    const { lines, summary } = await run();
    assert.deepEqual([lines, summary.unread], [[], []]);
  });

  it('by what an earlier run has read, the network is unread', async () => {
    await pay();
    books.evm.mineAt(15, 40);
    assert.deepEqual((await run()).summary.unread, []);
    books.evm.lag.set('*', 40);
    assert.deepEqual((await run()).summary.unread, [
      { network: BASE_SEPOLIA, reason: 'the endpoint is behind what an earlier run has read' },
    ]);
  });
});
