import assert from 'node:assert/strict';
import { type Hex, numberToHex } from 'viem';
import { type FakeLog, type FakeTransfer, transferLog, usedLog } from '../../../lab/world/chains/evm-logs.js';
import { EVM_WALLET } from '../../../lab/world/shop/factories.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import { countLines, openBooks, PRICE, USDC } from '../../support/books.js';
import { BASE_SEPOLIA, BUYER } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { NETWORKS, type RunOptions, runReconcile } from '../../support/reconcile-run.js';

const MOST_LOGS = 10;
const DAY_MS = 24 * 3_600_000;
const REASON = 'the block has more logs about it than one answer of the endpoint holds';

describe('a block with more logs about a wallet than one answer holds', () => {
  const books = forAllTests(() => openBooks('reconcile_crowded'));
  beforeEach(() => {
    books.evm.refusesLogsAbove = MOST_LOGS;
  });
  afterEach(async () => {
    resetClock();
    await books.startOver();
  });

  const run = (options: RunOptions = {}): ReturnType<typeof runReconcile> =>
    runReconcile(books, { networks: NETWORKS.slice(0, 1), ...options });

  /** Both the uses of authorizations in the block and the transfers to the wallet are too many. */
  function flood(): FakeLog[] {
    return Array.from({ length: MOST_LOGS + 1 }, (_, index) => {
      const payer = numberToHex(index + 1, { size: 20 });
      const one = {
        asset: USDC,
        from: payer,
        payTo: EVM_WALLET,
        amount: 1n,
        nonce: numberToHex(index, { size: 32 }),
      };
      return [usedLog(one), transferLog({ ...one, from: payer })];
    }).flat();
  }

  async function arrive(around: FakeLog[] = []): Promise<number> {
    const { id } = await books.buildSession();
    const nonce = books.app.references.nonceOf(id);
    const transfer = { asset: USDC, from: BUYER.address, payTo: EVM_WALLET, amount: PRICE, nonce };
    books.evm.execute([...around, usedLog(transfer), transferLog(transfer)]);
    return books.evm.head.number;
  }

  const unreadIn = (block: number, reason = REASON): object => ({
    network: BASE_SEPOLIA,
    wallet: EVM_WALLET.toLowerCase(),
    block,
    reason,
  });

  for (const reader of ['report', 'repair', 'worker'] as const)
    it(`is unread by a ${reader}, which goes on behind it, and tried again by the next runs`, async () => {
      const block = await arrive(flood());
      await arrive();
      const first = await run({ reader });
      assert.deepEqual(
        [countLines(first.lines), first.summary.unread],
        [{ unrecorded: 1 }, [unreadIn(block)]],
      );
      // The block is older than the five minutes that each run reads again.
      books.evm.mineAt(2, 600);
      advanceClock(20 * 60_000);
      for (let runs = 0; runs < 2; runs += 1) {
        const again = await run({ reader });
        assert.deepEqual([again.lines, again.summary.unread], [[], [unreadIn(block)]]);
      }
      books.evm.refusesLogsAbove = Number.POSITIVE_INFINITY;
      const { lines, summary } = await run({ reader });
      assert.deepEqual(
        [countLines(lines), summary.unread],
        [{ 'unrecorded no_reference': MOST_LOGS + 1, unrecorded: 1 }, []],
      );
      assert.deepEqual((await run({ reader })).lines, []);
    });

  it('makes no payment in it missing, and no run begin again', async () => {
    const movePayment = (transfer: FakeTransfer, name: Hex): Hex =>
      books.evm.execute([...flood(), usedLog(transfer), transferLog(transfer)], 'success', name);
    Object.assign(books.evm, { movePayment });
    const { id } = await books.buildSession();
    await books.payByAgent(id);
    const block = books.evm.head.number;
    books.evm.mineAt(2, 600);
    advanceClock(20 * 60_000);
    for (let runs = 0; runs < 2; runs += 1) {
      const { lines, summary } = await run();
      assert.deepEqual([lines, summary.unread], [[], [unreadIn(block)]]);
    }
  });

  for (const reader of ['report', 'repair', 'worker'] as const)
    it(`is told once by a ${reader}, although a run between could not read it any more`, async () => {
      books.evm.refusesLogsAbove = Number.POSITIVE_INFINITY;
      const block = await arrive(flood());
      const told = { 'unrecorded no_reference': MOST_LOGS + 1, unrecorded: 1 };
      assert.deepEqual(countLines((await run({ reader })).lines), told);
      books.evm.refusesLogsAbove = MOST_LOGS;
      books.evm.mineAt(2, 600);
      advanceClock(20 * 60_000);
      for (let runs = 0; runs < 2; runs += 1) {
        const { lines, summary } = await run({ reader });
        assert.deepEqual([lines, summary.unread], [[], [unreadIn(block)]]);
      }
      books.evm.refusesLogsAbove = Number.POSITIVE_INFINITY;
      const { lines, summary } = await run({ reader });
      assert.deepEqual([lines, summary.unread], [[], []]);
    });

  it('is given up after a week', async () => {
    const block = await arrive(flood());
    await run();
    for (const [days, unread] of [
      [6, [unreadIn(block)]],
      [2, [unreadIn(block, `${REASON}; later runs leave it`)]],
      [1, []],
    ] as const) {
      advanceClock(days * DAY_MS);
      books.evm.travel((days * DAY_MS) / 1000);
      books.evm.mine();
      books.evm.mineAt(2, 600);
      const { lines, summary } = await run();
      assert.deepEqual([lines, summary.unread], [[], unread]);
    }
  });

  it('is named by the command, which fails', async () => {
    const block = await arrive(flood());
    const { status, counts, said } = await books.reconcile('--network', BASE_SEPOLIA);
    assert.equal(status, 1);
    assert.deepEqual(counts.unread, [unreadIn(block)]);
    const subject = `transfers to ${EVM_WALLET.toLowerCase()} in block ${block}`;
    assert.match(said, new RegExp(`not read: ${BASE_SEPOLIA}: ${subject}: ${REASON}\\.`));
  });
});
