import assert from 'node:assert/strict';
import { answers } from '../../../lab/world/facilitator/dial.js';
import type { Payment } from '../../../shared/payments/model.js';
import { correctClock, nowMs, resetClock, unmockedHostMs } from '../../../shared/process/clock.js';
import { countLines, openBooks, type ReportLine } from '../../support/books.js';
import { BASE_SEPOLIA, BUYER } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { NETWORKS, runReconcile } from '../../support/reconcile-run.js';

const HOUR_MS = 3_600_000;

describe('the books are read', () => {
  const books = forAllTests(() => openBooks('reconcile_resumed'));
  afterEach(() => books.startOver());

  const told = (lines: readonly ReportLine[]): string[] =>
    lines.map(({ status, payment: id }) => `${status} ${id}`);

  /** Blocks are mined after the payment. */
  async function payWithoutTransfer(): Promise<Payment> {
    const transaction = `0x${'cd'.repeat(32)}`;
    const success = { success: true, transaction, network: BASE_SEPOLIA, payer: BUYER.address };
    books.facilitator.settle.next(answers(200, success));
    const { id } = await books.buildSession();
    await books.payByAgent(id);
    books.evm.mineLater();
    return await books.payment(id);
  }

  async function payBoth(): Promise<string[]> {
    const [onEvm, onSolana] = [await books.buildSession(), await books.buildSession()];
    await books.payByAgent(onEvm.id);
    await books.paySolana(onSolana.id);
    return [onEvm.id, onSolana.id];
  }

  it('from the second of --since on, whose blocks may be before and after that time', async () => {
    await payBoth();
    // An EVM chain may have many blocks within a second.
    books.evm.mineAt(0, 40);
    for (const network of NETWORKS) {
      const options = { networks: [network] };
      const [line] = (await runReconcile(books, { ...options, since: new Date(nowMs() - HOUR_MS) })).lines;
      // A matched line of an EVM network has no time, to save a call: its block's is the head's.
      const second = line?.at === null ? books.evm.head.timestamp * 1000 : Date.parse(line?.at ?? '');
      const since = new Date(second + 999);
      const { lines } = await runReconcile(books, { ...options, since });
      assert.deepEqual(countLines(lines), { matched: 1 }, network.caip2);
    }
  });

  describe('again for a payment without a transfer', () => {
    const networks = NETWORKS.slice(0, 1);
    let payment: Payment;
    beforeEach(async () => {
      payment = await payWithoutTransfer();
    });
    it('that could not be read', async () => {
      books.evm.endpoint.onCall = (method) => {
        if (method === 'eth_call') books.evm.endpoint.fail('http_500');
      };
      for (let runs = 0; runs < 2; runs += 1) {
        const { lines, summary } = await runReconcile(books, { networks });
        assert.deepEqual([lines, summary.unread.map(({ payment: id }) => id)], [[], [payment.id]]);
        books.evm.endpoint.recover();
      }
      books.evm.endpoint.onCall = () => {};
      assert.deepEqual(told((await runReconcile(books, { networks })).lines), [`missing ${payment.id}`]);
      assert.deepEqual((await runReconcile(books, { networks })).lines, []);
    });

    it('that was not decided yet', async () => {
      await payment.$query(books.db).patch({ status: 'processing' });
      const first = await runReconcile(books, { networks });
      assert.deepEqual([first.lines, first.summary.unread], [[], []]);
      await payment.$query(books.db).patch({ status: 'succeeded' });
      assert.deepEqual(told((await runReconcile(books, { networks })).lines), [`missing ${payment.id}`]);
    });
  });

  describe('for every payment without a transfer', () => {
    const networks = NETWORKS.slice(0, 1);
    const postgresIsAheadBy = (ms: number): void => {
      const at = unmockedHostMs();
      correctClock(at + ms, { askedAtMs: at, answeredAtMs: at });
    };
    // Opens the connections, with each of which Postgres' own clock is read.
    beforeEach(() => runReconcile(books, { networks }));
    afterEach(() => {
      postgresIsAheadBy(0);
      resetClock();
    });

    it("although Postgres' clock was ahead during the last run", async () => {
      postgresIsAheadBy(HOUR_MS);
      await runReconcile(books, { networks });
      postgresIsAheadBy(0);
      // Another process claims the payment, which has made no id meanwhile.
      resetClock();
      const { id } = await payWithoutTransfer();
      assert.deepEqual(told((await runReconcile(books, { networks })).lines), [`missing ${id}`]);
    });

    it('although both clocks were ahead during the last run', async () => {
      await books.db('reconcile_positions').increment('position', HOUR_MS).where({ list: 'payments' });
      const { id } = await payWithoutTransfer();
      assert.deepEqual(told((await runReconcile(books, { networks })).lines), [`missing ${id}`]);
      assert.deepEqual((await runReconcile(books, { networks })).lines, []);
    });
  });

  describe('again for a transfer that they have passed by', () => {
    const repair = { reader: 'repair', repair: true } as const;
    const passBy = (): void => {
      books.evm.mineAt(6, 100);
      books.solana.pass(200);
    };

    it('because the endpoint gave a repair no proof of it', async () => {
      const [onEvm, onSolana] = [(await books.buildSession()).id, (await books.buildSession()).id];
      await books.takeCopy();
      await books.payByPage(onEvm);
      await books.paySolana(onSolana);
      await books.restoreCopy();
      passBy();
      books.evm.endpoint.fail('http_500', 'eth_getTransactionReceipt');
      books.solana.endpoint.fail('http_500', 'getSignatureStatuses');
      for (let runs = 0; runs < 2; runs += 1) {
        const { lines, summary } = await runReconcile(books, repair);
        assert.deepEqual(countLines(lines), { 'unrecorded not_proven': 2 });
        assert.deepEqual(
          summary.unread.map(({ transaction }) => transaction).sort(),
          lines.map(({ transaction }) => transaction).sort(),
        );
        passBy();
      }
      books.evm.endpoint.recover();
      books.solana.endpoint.recover();
      const { lines, summary } = await runReconcile(books, repair);
      assert.deepEqual([countLines(lines), summary.unread], [{ 'unrecorded repaired': 2 }, []]);
      for (const id of [onEvm, onSolana]) assert.equal((await books.session(id)).status, 'complete');
      assert.deepEqual((await runReconcile(books, repair)).lines, []);
    });

    it('because its payment was not decided yet, and then failed', async () => {
      const { id } = await books.buildSession();
      await books.payByPage(id);
      const payment = await books.payment(id);
      await payment.$query(books.db).patch({ status: 'processing' });
      for (let runs = 0; runs < 2; runs += 1) {
        passBy();
        assert.equal((await runReconcile(books)).summary.undecided, 1);
      }
      await payment.$query(books.db).patch({ status: 'failed' });
      assert.deepEqual(told((await runReconcile(books)).lines), [`unrecorded ${payment.id}`]);
      assert.deepEqual((await runReconcile(books)).lines, []);
    });
  });

  it('on from where a run has stopped, although another began later', async () => {
    await payBoth();
    assert.equal((await runReconcile(books)).lines.length, 2);
    const late = await payBoth();
    books.evm.mineAt(6, 100);
    books.solana.pass(200);
    const { lines } = await runReconcile(books, { since: new Date(nowMs() + 3_600_000) });
    assert.deepEqual(lines, []);
    assert.deepEqual(
      (await runReconcile(books)).lines.map(({ status, checkout_session: id }) => `${status} ${id}`).sort(),
      late.map((id) => `matched ${id}`).sort(),
    );
  });
});
