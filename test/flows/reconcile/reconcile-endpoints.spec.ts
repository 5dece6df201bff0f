import assert from 'node:assert/strict';
import { nowMs } from '../../../shared/process/clock.js';
import { checkSucceeded } from '../../../shared/reconcile/check-succeeded.js';
import { emptySummary, type NetworkRun } from '../../../shared/reconcile/run.js';
import { countLines, openBooks } from '../../support/books.js';
import { BASE_SEPOLIA } from '../../support/checkout.js';
import { emptyTables } from '../../support/empty-tables.js';
import { forAllTests } from '../../support/hooks.js';
import { NETWORKS, type RunOptions, runReconcile } from '../../support/reconcile-run.js';

const EACH = 4;

/** The specs read real settlements, with endpoints as they are. */
describe('the chains are read', () => {
  const books = forAllTests(() => openBooks('reconcile_endpoints'));
  afterEach(() => books.startOver());

  async function pay(
    count: number,
    how: 'payByAgent' | 'payByPage' | 'paySolana' = 'payByAgent',
  ): Promise<string[]> {
    const ids: string[] = [];
    for (let paid = 0; paid < count; paid += 1) {
      const { id } = await books.buildSession();
      await books[how](id);
      ids.push(id);
    }
    return ids;
  }

  const run = (
    options: RunOptions = {},
    settings: Record<string, string> = {},
  ): ReturnType<typeof runReconcile> => runReconcile(books, options, settings);

  for (const refusal of ['named', 'http_wordless'] as const) {
    it(`in ranges that an endpoint bears that refuses wide ones by "${refusal}"`, async () => {
      await pay(2);
      books.evm.mine(100);
      await pay(1);
      Object.assign(books.evm, { maxLogRange: 7, logRefusal: refusal });
      const { lines, summary } = await run();
      assert.deepEqual([countLines(lines), summary.unread], [{ matched: 3 }, []]);
    });
  }

  it('again from where a run was ended, each transfer once', async () => {
    books.evm.maxLogRange = 5;
    books.solana.pageSize = 3;
    const ids = [...(await pay(EACH * 3)), ...(await pay(EACH, 'paySolana'))];
    // The blocks that every run reads again.
    books.evm.mineAt(60, 6);
    const told: string[] = [];
    let isFinished = false;
    for (let runs = 0; !isFinished && runs < 100; runs += 1) {
      let calls = 0;
      const { lines, summary } = await run({ goesOn: async () => ++calls <= 12 });
      told.push(...lines.map(({ checkout_session: id }) => String(id)));
      isFinished = summary.unread.length === 0;
    }
    assert.ok(isFinished);
    assert.deepEqual(told.sort(), ids.sort());
  });

  it('again from where the endpoint began to refuse every call', async () => {
    books.evm.maxLogRange = 20;
    await pay(EACH * 2);
    books.evm.mine(100);
    const [late = ''] = await pay(1);
    books.evm.endpoint.allowance = 15;
    const first = await run({ networks: NETWORKS.slice(0, 1) });
    assert.deepEqual(first.summary.unread, [
      { network: BASE_SEPOLIA, reason: 'limited by the endpoint: it answered HTTP 429' },
    ]);
    assert.equal(
      first.lines.some(({ checkout_session: id }) => id === late),
      false,
    );
    books.evm.endpoint.allowance = Number.POSITIVE_INFINITY;
    const second = await run({ networks: NETWORKS.slice(0, 1) });
    assert.equal(first.lines.length + second.lines.length, EACH * 2 + 1);
    assert.equal(second.summary.unread.length, 0);
  });

  it('patiently, when an endpoint answers three calls a second', async () => {
    await pay(EACH);
    books.evm.endpoint.callsPerSecond = 3;
    const { lines, summary } = await run({ networks: NETWORKS.slice(0, 1), pauseMs: 400 });
    assert.deepEqual([countLines(lines), summary.unread], [{ matched: EACH }, []]);
    assert.ok(books.evm.endpoint.total > 3);
  });

  it('payment by payment, and asked after every few whether the run goes on, while the endpoint hangs', async () => {
    const ids = await pay(EACH * 3);
    const checksBetween: number[] = [];
    let checks = 0;
    const summary = emptySummary();
    const networkRun = {
      network: BASE_SEPOLIA,
      deps: { db: books.db, chains: { check: async () => ({ kind: 'unreadable', reason: `${++checks}` }) } },
      run: {
        reader: 'report',
        firstTime: new Date(0),
        startedAt: new Date(nowMs()),
        leavesMs: 0,
        seen: new Set(),
        summary,
        async goesOn() {
          checksBetween.push(checks);
          checks = 0;
          return true;
        },
      },
    } as unknown as NetworkRun;
    await checkSucceeded(networkRun);
    assert.equal(summary.unread.length, ids.length);
    assert.ok(Math.max(...checksBetween, checks) <= 5, `${checksBetween}, ${checks}`);
  });

  it('although one of them cannot be read', async () => {
    await pay(1);
    await pay(1, 'paySolana');
    books.evm.endpoint.fail('http_500');
    const { lines, summary } = await run();
    assert.deepEqual(countLines(lines), { matched: 1 });
    assert.deepEqual(summary.unread, [{ network: BASE_SEPOLIA, reason: 'the endpoint answered HTTP 500' }]);
    books.evm.endpoint.recover();
    assert.deepEqual(countLines((await run()).lines), { matched: 1 });
  });

  it('and nothing is missing because the endpoint is silent', async () => {
    const [id = ''] = await pay(1);
    for (const fault of ['cut', 'garbage', 'limit_error', 'http_500'] as const) {
      books.evm.endpoint.fail(fault);
      const { lines, summary } = await run({ networks: NETWORKS.slice(0, 1) });
      assert.deepEqual([lines, summary.unread.length], [[], 1], fault);
    }
    books.evm.endpoint.recover();
    assert.equal((await run()).lines[0]?.checkout_session, id);
  });

  it('from a node that is behind, and again when it is not', async () => {
    const ids = await pay(EACH);
    books.evm.lag.set('*', 2);
    const first = await run();
    assert.ok(first.lines.length < EACH + 1);
    books.evm.lag.clear();
    const second = await run();
    const told = [...first.lines, ...second.lines].filter(({ status }) => status === 'matched');
    assert.deepEqual([...new Set(told.map(({ checkout_session: id }) => id))].sort(), ids.sort());
  });

  it('again where a node had no logs of its newest blocks', async () => {
    const ids = await pay(EACH);
    books.evm.hidesLogs = true;
    books.evm.mine(3);
    assert.deepEqual((await run({ networks: NETWORKS.slice(0, 1) })).lines, []);
    books.evm.hidesLogs = false;
    const { lines } = await run({ networks: NETWORKS.slice(0, 1) });
    assert.deepEqual(lines.map(({ status, checkout_session: id }) => `${status} ${id}`).sort(), matched(ids));
  });

  const matched = (ids: readonly string[]): string[] => ids.map((id) => `matched ${id}`).sort();

  it('from several nodes that are differently far behind', async () => {
    const ids = await pay(EACH * 2, 'payByPage');
    await books.db.raw("UPDATE payables SET status = 'open', payment_id = NULL");
    await emptyTables(books.db, 'payments', 'events', 'webhook_deliveries');
    books.evm.nodes.spread([0, 3, 11]);
    const recorded = new Set<string>();
    for (let runs = 0; runs < 12; runs += 1) {
      const { lines } = await run({ reader: 'repair', repair: true });
      for (const { checkout_session: id, repaired } of lines)
        if (repaired && id !== undefined) recorded.add(id);
    }
    books.evm.nodes.spread([0]);
    const since = new Date(nowMs() - 3_600_000);
    await run({ reader: 'repair', repair: true, since });
    for (const id of ids) assert.equal((await books.session(id)).status, 'complete', id);
  });

  it('as they are after a reorganisation', async () => {
    const [kept = '', dropped = ''] = await pay(2);
    assert.deepEqual(countLines((await run()).lines), { matched: 2 });
    const { transaction } = await books.payment(dropped);
    books.evm.reorganise(transaction as `0x${string}`, 'dropped');
    books.evm.mineLater();
    const { lines } = await run({ since: new Date(nowMs() - 3_600_000) });
    const statusOf = (id: string): string | undefined =>
      lines.find(({ checkout_session: session }) => session === id)?.status;
    assert.deepEqual([statusOf(kept), statusOf(dropped)], ['matched', 'missing']);
  });

  it('to the newest block that has the confirmations of the network', async () => {
    await pay(1);
    const settings = { CONFIRMATIONS_EIP155_84532: '4' };
    const options = { networks: NETWORKS.slice(0, 1), since: new Date(nowMs() - 3_600_000) };
    await books.db.raw("UPDATE payables SET status = 'open', payment_id = NULL");
    await emptyTables(books.db, 'payments', 'events', 'webhook_deliveries');
    books.evm.mine(2);
    assert.deepEqual((await run(options, settings)).lines, []);
    books.evm.mine(1);
    assert.equal((await run(options, settings)).lines.length, 1);
  });

  it('not from an endpoint that has lost the blocks that were asked for, or where a run has stopped', async () => {
    const options = { networks: NETWORKS.slice(0, 1) };
    assert.deepEqual((await run(options)).summary.unread, []);
    await pay(1);
    books.evm.mineAt(2, 400);
    books.evm.keepsBlocks = 160;
    for (const keepsFirstBlock of [true, false]) {
      books.evm.keepsFirstBlock = keepsFirstBlock;
      for (const since of [undefined, new Date((books.evm.head.timestamp - 600) * 1000)]) {
        const { summary } = await run({ ...options, ...(since && { since }) });
        assert.match(summary.unread[0]?.reason ?? '', /^the endpoint keeps no blocks from /);
      }
    }
    books.evm.keepsBlocks = Number.POSITIVE_INFINITY;
    assert.deepEqual(countLines((await run(options)).lines), { matched: 1 });
  });

  it("from the first block of a developer's chain that begins at a later number", async () => {
    await pay(1);
    books.evm.firstBlock = books.evm.head.number;
    books.evm.mine(20);
    const since = new Date(nowMs() - 3_600_000);
    const { lines, summary } = await run({ networks: NETWORKS.slice(0, 1), since });
    assert.deepEqual([countLines(lines), summary.unread], [{ matched: 1 }, []]);
  });

  it('all the same when one of its nodes lacks a block by which the beginning is found', async () => {
    await pay(1);
    // These blocks have the same time, as on a chain with several blocks a second.
    books.evm.mineAt(0, 300);
    const options = { networks: NETWORKS.slice(0, 1), since: new Date(nowMs() - 3_600_000) };
    for (let behind = 1; behind <= 10; behind += 1) {
      let read = 0;
      books.evm.endpoint.onCall = (method) => {
        if (method === 'eth_getBlockByNumber') books.evm.lag.set('*', ++read === behind ? 150 : 0);
      };
      const { lines, summary } = await run(options);
      assert.deepEqual([countLines(lines), summary.unread], [{ matched: 1 }, []], `call ${behind}`);
    }
  });

  describe('on Solana', () => {
    it('page by page, newest first, without a transaction that failed', async () => {
      books.solana.pageSize = 3;
      const ids = await pay(EACH * 2, 'paySolana');
      const { lines } = await run();
      assert.deepEqual(lines.map(({ checkout_session: id }) => id).sort(), ids.sort());
      assert.ok(lines.every(({ status }) => status === 'matched'));
    });

    it('when a list is behind its node', async () => {
      books.solana.listLag = 8;
      const ids = await pay(EACH, 'paySolana');
      const first = await run();
      books.solana.listLag = 0;
      const second = await run();
      const told = [...first.lines, ...second.lines].map(({ checkout_session: id }) => id);
      assert.deepEqual([...new Set(told)].sort(), ids.sort());
    });

    it('again where a list had left out a transaction of the last minutes', async () => {
      const [id = ''] = await pay(1, 'paySolana');
      const { transaction } = await books.payment(id);
      await pay(1, 'paySolana');
      books.solana.hiddenFromLists.add(transaction ?? '');
      // The payment is now below the root, and above the slots that the next run leaves out.
      books.solana.pass(500);
      const first = await run({ networks: NETWORKS.slice(1) });
      assert.equal(first.lines.length, 1);
      books.solana.hiddenFromLists.clear();
      const { lines } = await run({ networks: NETWORKS.slice(1) });
      assert.deepEqual(
        lines.map(({ status, checkout_session }) => `${status} ${checkout_session}`),
        matched([id]),
      );
    });

    it('not from an endpoint that has lost what was asked for', async () => {
      await pay(EACH, 'paySolana');
      books.solana.ledgerFrom = books.solana.slot - 4;
      const { summary } = await run({ since: new Date(nowMs() - 60_000), networks: NETWORKS.slice(1) });
      assert.match(summary.unread[0]?.reason ?? '', /keeps no transactions from that time/);
    });

    it('although one transaction is of a version that is not known', async () => {
      const [id = '', unknown = ''] = await pay(2, 'paySolana');
      const { transaction } = await books.payment(unknown);
      books.solana.ofLaterVersion.add(transaction ?? '');
      const { lines, summary } = await run({ networks: NETWORKS.slice(1) });
      assert.equal(lines.find(({ checkout_session: session }) => session === id)?.status, 'matched');
      assert.ok(summary.unread.some(({ transaction: named }) => named === transaction));
    });
  });
});
