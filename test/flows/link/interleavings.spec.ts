import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { answers, type Behaviour, failsToSettle } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { PausePoint } from '../../../lab/world/processes/pause-points.js';
import { Payment } from '../../../shared/payments/model.js';
import { advanceClock, nowMs } from '../../../shared/process/clock.js';
import { carryOut } from '../../../shared/settlement/carry-out.js';
import { paymentJob } from '../../../shared/settlement/payment-job.js';
import type { Decision } from '../../../shared/settlement/policy/decision.js';
import { beginCheck, beginSettlement } from '../../../shared/settlement/take-work.js';
import { settlePayment } from '../../../workers/jobs/settle-payment.js';
import { BASE_SEPOLIA, type SignedPayment } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { openMoneyFlow } from '../../support/money-flow.js';

const HEADER = 'PAYMENT-SIGNATURE';

describe('ten jobs for each stage of one payment, and three workers', () => {
  const flow = forAllTests(() => openMoneyFlow('many_jobs'));

  it('settle it once', async () => {
    await Promise.all([flow.startWorker(), flow.startWorker()]);
    const { id } = await flow.buildSession();
    const signed = await flow.sign(id);
    const hold = flow.facilitator.settle.holdNext();
    const answer = flow.visit(id, { [HEADER]: signed.header }).then(answerOf);
    await eventually(() => assert.equal(flow.calls(signed).settle, 1));
    const payment = await flow.onlyPayment(id);
    for (let copy = 1; copy <= 10; copy += 1) {
      for (const stage of ['settle', 'confirm'] as const) {
        const dueAt = new Date(payment.claimedAt.getTime() + copy);
        await flow.app.queues.enqueue(paymentJob({ id: payment.id, stage, attempt: 0, dueAt }));
      }
    }
    // A payment made later is processed after these jobs.
    const { id: later } = await flow.buildSession();
    assert.equal(answerOf(await flow.pay(later)), '200 complete');
    hold.release();
    assert.equal(await answer, '200 complete');
    assert.equal(flow.calls(signed).settle, 1);
    assert.equal((await flow.onlyPayment(id)).attempt, 1, 'another worker has taken the row');
    await flow.assertBooks();
  });
});

describe('when workers take the same payment,', () => {
  const flow = forAllTests(() => openMoneyFlow('takers', { worker: false }));
  const manualWorker = forAllTests(() => flow.openManualWorker());
  beforeEach(() => flow.startNewBooks());
  afterEach(async () => {
    flow.facilitator.settle.honest();
    await PausePoint.removeAll();
  });

  async function claimed(
    sessionId: string,
  ): Promise<{ payment: Payment; answer: Promise<string>; signed: SignedPayment }> {
    const signed = await flow.sign(sessionId);
    const answer = flow.visit(sessionId, { [HEADER]: signed.header }).then(answerOf);
    const payment = await eventually(async () => {
      const { paymentId } = await flow.session(sessionId);
      return await Payment.query(flow.db)
        .findById(paymentId ?? '')
        .throwIfNotFound();
    });
    return { payment, answer, signed };
  }

  it('one of twenty gets the row, to settle it and to check the chain', async () => {
    const { id } = await flow.buildSession();
    const { payment, answer } = await claimed(id);
    const many = Array.from({ length: 20 });
    const settling = await Promise.all(
      many.map(() => beginSettlement(flow.app.db, { id: payment.id, settleTimeoutMs: 1000 })),
    );
    assert.equal(settling.filter((taken) => taken !== undefined).length, 1);
    await flow.letTimePass(id);
    const checking = await Promise.all(
      many.map(() => beginCheck(flow.app.db, { id: payment.id, settleTimeoutMs: 1000 })),
    );
    assert.equal(checking.filter((taken) => taken !== undefined).length, 1);
    assert.equal((await flow.onlyPayment(id)).attempt, 2);
    await flow.letTimePass(id);
    await manualWorker.doNext(payment.id); // The chain says unused, so that the payment is settled again.
    await manualWorker.doNext(payment.id);
    assert.equal(await answer, '200 complete');
    await flow.assertBooks();
  });

  it('a worker that waits for the row while another one takes it finds nothing to do', async () => {
    const { id } = await flow.buildSession();
    const when = `NEW.payable_id = '${id}' AND NEW.settle_calls > OLD.settle_calls`;
    const pause = await PausePoint.put(flow.databaseUrl, {
      table: 'payments',
      on: 'UPDATE',
      when,
      moment: 'statement',
    });
    const { payment, answer, signed } = await claimed(id);
    const first = settlePayment(manualWorker.deps, { paymentId: payment.id });
    await pause.reached();
    const others = [1, 2, 3].map(() => settlePayment(manualWorker.deps, { paymentId: payment.id }));
    await pause.release();
    await Promise.all([first, ...others]);
    assert.equal(await answer, '200 complete');
    assert.equal(flow.calls(signed).settle, 1);
    await flow.assertBooks();
  });

  const settled: Behaviour = {
    works: false,
    answer: () => ({
      status: 200,
      body: { success: true, transaction: `0x${randomBytes(32).toString('hex')}`, network: BASE_SEPOLIA },
    }),
  };
  for (const [answer, behaviour] of Object.entries({
    settled,
    rejected: failsToSettle('insufficient_funds'),
    'turned away': answers(429),
    unclear: answers(500),
  })) {
    it(`a stalled worker whose call ends as "${answer}" while another payment holds the session decides nothing`, async () => {
      const { id } = await flow.buildSession();
      const first = await claimed(id);
      const hold = flow.facilitator.settle.holdNext(behaviour);
      const stalled = settlePayment(manualWorker.deps, { paymentId: first.payment.id });
      await eventually(() => assert.equal(flow.calls(first.signed).settle, 1));
      // The lease and the authorization run out, and the chain says that no money moved.
      advanceClock(first.payment.validUntil.getTime() - nowMs() + 2000);
      await manualWorker.doNext(first.payment.id);
      assert.equal(await first.answer, '402 unexpected_settle_error');
      const second = await claimed(id);
      const before = await Payment.query(flow.db).findById(first.payment.id);

      hold.release();
      await stalled;
      const { status, paymentId } = await flow.session(id);
      assert.deepEqual([status, paymentId], ['processing', second.payment.id]);
      const after = await Payment.query(flow.db).findById(first.payment.id);
      // The facilitator's answer is kept for later checks of the chain.
      const kept = { reportedTransaction: after?.reportedTransaction, settleUnclear: after?.settleUnclear };
      assert.equal(after?.reportedTransaction !== null, answer === 'settled');
      assert.deepEqual(after, Object.assign(before ?? {}, kept));
      assert.deepEqual(await flow.events(id), []);

      await manualWorker.doNext(second.payment.id);
      assert.equal(await second.answer, '200 complete');
      await flow.assertBooks();
    });
  }

  it('every outcome of a worker whose lease has run out matches no row', async () => {
    const { id } = await flow.buildSession();
    const { payment, answer } = await claimed(id);
    const stalled = await beginSettlement(flow.app.db, { id: payment.id, settleTimeoutMs: 1000 });
    assert.ok(stalled !== undefined);
    await flow.letTimePass(id);
    await beginCheck(flow.app.db, { id: payment.id, settleTimeoutMs: 1000 });
    const before = [await flow.session(id), await flow.onlyPayment(id)];
    const said = { source: 'service', said: 'too late' } as const;
    const proof = { transaction: '0x1', payer: undefined, proofIndex: 1 };
    const decisions: Decision[] = [
      { kind: 'succeed', proof, said },
      { kind: 'succeed', proof: { ...proof, proofIndex: undefined }, said },
      { kind: 'fail', code: 'too_late', released: true, watchAt: undefined, said },
      { kind: 'settle_again', at: new Date(), patch: {}, said },
      { kind: 'check_again', at: new Date(), patch: { settleUnclear: true }, said },
      { kind: 'stop_watching', said },
    ];
    let enqueued = 0;
    const queues = {
      ...manualWorker.deps.queues,
      async enqueue() {
        enqueued += 1;
      },
    };
    const taken = { payment: stalled, job: 'settle-payment' } as const;
    for (const decision of decisions) {
      const { kind } = await carryOut({ ...manualWorker.deps, queues }, taken, decision);
      assert.equal(kind, 'superseded', decision.kind);
    }
    assert.equal(enqueued, 0);
    assert.deepEqual([await flow.session(id), await flow.onlyPayment(id)], before);

    await flow.letTimePass(id);
    await manualWorker.doNext(payment.id);
    await manualWorker.doNext(payment.id);
    assert.equal(await answer, '200 complete');
  });

  it('one transfer found for two payments completes one of them', async () => {
    const sessions = [await flow.buildSession(), await flow.buildSession()];
    const payments: Payment[] = [];
    for (const { id } of sessions) payments.push((await claimed(id)).payment);
    const [first, second] = payments;
    assert.ok(first !== undefined && second !== undefined);
    // Stands for two payments of one payload, which the unique key prevents.
    await Payment.query(flow.db).patch({ payload: first.payload }).where('id', second.id);
    flow.facilitator.settle.next({ connection: 'drop' });
    await manualWorker.doNext(first.id);
    flow.facilitator.settle.next({ works: false, connection: 'drop' });
    await manualWorker.doNext(second.id);
    manualWorker.log.splice(0);
    await Promise.all([manualWorker.doNext(first.id), manualWorker.doNext(second.id)]);

    const statuses = await Promise.all(sessions.map(async ({ id }) => (await flow.session(id)).status));
    assert.deepEqual(statuses.sort(), ['complete', 'processing']);
    const proven = await Payment.query(flow.db)
      .whereIn('id', [first.id, second.id])
      .where('status', 'succeeded');
    assert.equal(proven.length, 1);
    assert.ok(manualWorker.log.some(({ event }) => event === 'payment.proof_taken'));
    // The other payment waits for an operator's decision.
    await Payment.query(flow.db).patch({ stage: null, dueAt: null }).where({ status: 'processing' });
  });
});
