import assert from 'node:assert/strict';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import { countLines, openBooks } from '../../support/books.js';
import { BASE_SEPOLIA, SOLANA_DEVNET } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { NETWORKS, type RunOptions, runReconcile } from '../../support/reconcile-run.js';

const REASON = 'the endpoint shows its transfer, and left it out of the list of transfers';
/** More slots than the five minutes that every run reads again. */
const LATE_SLOTS = 2000;

/** An unrecorded transfer is in no book, so a payment that the list lacks as well is the one sign of it. */
describe('a list of transfers without a payment that its endpoint shows', () => {
  const books = forAllTests(() => openBooks('reconcile_left_out'));
  afterEach(async () => {
    resetClock();
    await books.startOver();
  });

  async function pay(how: 'payByAgent' | 'paySolana'): Promise<string> {
    const { id } = await books.buildSession();
    await books[how](id);
    return (await books.payment(id)).id;
  }

  async function arriveUnrecorded(): Promise<void> {
    const { id } = await books.buildSession();
    books.arrives({ nonce: books.app.references.nonceOf(id) });
  }

  const runOn =
    (network: string) =>
    (options: RunOptions = {}): ReturnType<typeof runReconcile> =>
      runReconcile(books, { networks: NETWORKS.filter(({ caip2 }) => caip2 === network), ...options });

  for (const reader of ['report', 'worker'] as const) {
    for (const [fault, begin] of Object.entries({
      'is cut short': () => {
        books.evm.mostLogs = 1;
      },
      'comes from an index that is an hour late': () => {
        books.evm.lag.set('eth_getLogs', 3600);
      },
    })) {
      it(`is unread by a ${reader}, and read again by the next run: it ${fault}`, async () => {
        const run = runOn(BASE_SEPOLIA);
        await arriveUnrecorded();
        const payment = await pay('payByAgent');
        await arriveUnrecorded();
        books.evm.mineAt(2, 600);
        // A worker leaves payments of the last ten minutes to its next run.
        advanceClock(20 * 60_000);
        begin();
        const first = await run({ reader });
        assert.deepEqual(first.summary.unread, [{ network: BASE_SEPOLIA, payment, reason: REASON }]);
        assert.deepEqual((await run({ reader })).summary.unread, first.summary.unread);
        books.evm.mostLogs = Number.POSITIVE_INFINITY;
        books.evm.lag.clear();
        const { lines, summary } = await run({ reader });
        const told = countLines([...first.lines, ...lines]);
        assert.deepEqual([told, summary.unread], [{ unrecorded: 2, matched: 1 }, []]);
        assert.deepEqual((await run({ reader })).lines, []);
      });
    }
  }

  it('is unread, and read again by the next run, on Solana', async () => {
    const run = runOn(SOLANA_DEVNET);
    await pay('paySolana');
    await run();
    const payment = await pay('paySolana');
    books.solana.pass(LATE_SLOTS);
    books.solana.listLag = LATE_SLOTS + 50;
    const { summary } = await run();
    assert.deepEqual(summary.unread, [{ network: SOLANA_DEVNET, payment, reason: REASON }]);
    books.solana.listLag = 0;
    assert.deepEqual(countLines((await run()).lines), { matched: 1 });
  });

  it('is complete when the payment is of nothing, which is no transfer', async () => {
    const { id } = await books.buildSession({ amountTotalCents: 0 });
    await books.payByAgent(id);
    books.evm.mineAt(2, 600);
    assert.deepEqual((await runOn(BASE_SEPOLIA)()).summary.unread, []);
  });
});
