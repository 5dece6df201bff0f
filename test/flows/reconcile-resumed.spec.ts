import assert from 'node:assert/strict';
import { answers } from '../../lab/world/facilitator/dial.js';
import type { Payment } from '../../shared/payments/model.js';
import { nowMs } from '../../shared/process/clock.js';
import { type Books, openBooks, type ReportLine } from '../support/books.js';
import { BASE_SEPOLIA, BUYER } from '../support/checkout.js';
import { NETWORKS, runReconcile } from '../support/reconcile-run.js';

describe('the books are read', () => {
  let books: Books;
  beforeEach(async () => {
    books = await openBooks('reconcile_resumed');
  });
  afterEach(() => books.close());

  async function payBoth(): Promise<string[]> {
    const [onEvm, onSolana] = [await books.buildSession(), await books.buildSession()];
    await books.payByAgent(onEvm.id);
    await books.paySolana(onSolana.id);
    return [onEvm.id, onSolana.id];
  }

  describe('again for a payment without a transfer', () => {
    const networks = NETWORKS.slice(0, 1);
    let payment: Payment;
    beforeEach(async () => {
      const transaction = `0x${'cd'.repeat(32)}`;
      const success = { success: true, transaction, network: BASE_SEPOLIA, payer: BUYER.address };
      books.facilitator.settle.next(answers(200, success));
      const { id } = await books.buildSession();
      await books.payByAgent(id);
      payment = await books.payment(id);
    });
    const told = (lines: readonly ReportLine[]): string[] =>
      lines.map(({ status, payment: id }) => `${status} ${id}`);

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

  it('on from where a run has stopped, although another began later', async () => {
    await payBoth();
    assert.equal((await runReconcile(books)).lines.length, 2);
    const late = await payBoth();
    books.evm.mine(100);
    books.solana.pass(200);
    const { lines } = await runReconcile(books, { since: new Date(nowMs() + 3_600_000) });
    assert.deepEqual(lines, []);
    assert.deepEqual(
      (await runReconcile(books)).lines.map(({ status, checkout_session: id }) => `${status} ${id}`).sort(),
      late.map((id) => `matched ${id}`).sort(),
    );
  });
});
