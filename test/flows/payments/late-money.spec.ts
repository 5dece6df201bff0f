import assert from 'node:assert/strict';
import { answers, failsToSettle } from '../../../lab/world/facilitator/dial.js';
import type { Movement } from '../../../lab/world/facilitator/judgement.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { Payable } from '../../../shared/payables/model.js';
import { Payment } from '../../../shared/payments/model.js';
import { advanceClock, nowMs } from '../../../shared/process/clock.js';
import { expireOverdueSessions } from '../../../shared/settlement/expire-overdue.js';
import { beginSettlement } from '../../../shared/settlement/take-work.js';
import { client } from '../../support/api-client.js';
import type { SignedPayment } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { describeBothKinds } from '../../support/kinds.js';
import { checkLate, payAndBeDenied, send } from '../../support/late-money.js';
import { answerOf } from '../../support/link-answers.js';
import { EVENT_DEPS, openMoneyFlow } from '../../support/money-flow.js';
import { assertWholeReport } from '../../support/report-sums.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const WEEK = 7 * 24 * HOUR;
const WATCHED_HOURS = 12;

describeBothKinds('a transfer that is found late', (kind) => {
  const flow = forAllTests(() => openMoneyFlow(`late_money_${kind}`, { worker: false, kind }));
  const manualWorker = forAllTests(() => flow.openManualWorker());
  beforeEach(() => {
    flow.startNewBooks();
    manualWorker.log.splice(0);
  });
  afterEach(() => flow.facilitator.settle.honest());
  after(() => assertWholeReport(client(flow.app, flow.merchant.testKey), flow.db, flow.merchant.accountId));

  const movementsOf = ({ payload }: SignedPayment): Movement[] =>
    flow.facilitator.ledger.filter(({ paymentId }) => paymentId === payload.authorization.nonce);

  const logged = (): unknown[] => manualWorker.log.map(({ level, event }) => `${level} ${event}`);

  it('completes a session that is open', async () => {
    const { id } = await flow.buildSession();
    const late = await payAndBeDenied(flow, manualWorker, id);
    await checkLate(flow, manualWorker, late);
    assert.equal((await flow.session(id)).paymentId, late);
    assert.equal(answerOf(await flow.visit(id)), '200 complete');
    assert.deepEqual(logged(), []);
    await flow.assertBooks();
  });

  it('is found within minutes although the chain cannot be read at the first check', async () => {
    const { id } = await flow.buildSession();
    const late = await payAndBeDenied(flow, manualWorker, id);
    flow.chain.endpoint.fail('http_500');
    await checkLate(flow, manualWorker, late);
    const failedCheckAt = nowMs();
    await manualWorker.doNext(late);
    const pauses = [nowMs() - failedCheckAt];
    await manualWorker.doNext(late);
    pauses.push(nowMs() - failedCheckAt - (pauses[0] ?? 0));
    assert.ok(
      pauses.every((pause) => pause <= MINUTE),
      `checked again after ${pauses} ms`,
    );
    flow.chain.endpoint.recover();
    await manualWorker.doNext(late);
    assert.equal(answerOf(await flow.visit(id)), '200 complete');
    await flow.assertBooks();
  });

  it('completes a session that is past its end and has not been expired yet', async () => {
    const { id } = await flow.buildSession();
    const late = await payAndBeDenied(flow, manualWorker, id);
    await Payable.query(flow.db)
      .patch({ expiresAt: new Date(nowMs() - 1000) })
      .where({ id });
    await checkLate(flow, manualWorker, late);
    await expireOverdueSessions(flow.db, 10, EVENT_DEPS);
    assert.deepEqual(await flow.events(id), ['checkout.session.completed']);
    await flow.assertBooks();
  });

  it('completes a session that has expired, with its event and an error line in the log', async () => {
    const { id } = await flow.buildSession();
    const late = await payAndBeDenied(flow, manualWorker, id);
    await Payable.query(flow.db)
      .patch({ expiresAt: new Date(nowMs() - 1000) })
      .where({ id });
    await expireOverdueSessions(flow.db, 10, EVENT_DEPS);
    await checkLate(flow, manualWorker, late);
    assert.deepEqual(await flow.state(id), {
      session: 'complete',
      payments: ['succeeded'],
      events: ['checkout.session.expired', 'checkout.session.completed'],
    });
    assert.deepEqual(logged(), ['error payment.after_expiry']);
    await flow.assertBooks();
  });

  it('fails a payment in progress that was not sent to /settle, and completes the session', async () => {
    const { id } = await flow.buildSession();
    const late = await payAndBeDenied(flow, manualWorker, id);
    const second = await send(flow, id);
    await checkLate(flow, manualWorker, late);
    assert.equal(await second.answer, '409 session_already_paid');
    const failed = await Payment.query(flow.db).findById(second.id);
    assert.deepEqual([failed?.status, failed?.failureCode], ['failed', 'session_already_paid']);
    assert.equal((await flow.session(id)).paymentId, late);
    assert.equal(flow.calls(second.signed).settle, 0);
    await flow.assertBooks();
  });

  it('withdraws a second payment that the facilitator has only turned away so far', async () => {
    const { id } = await flow.buildSession();
    const late = await payAndBeDenied(flow, manualWorker, id);
    const second = await send(flow, id);
    flow.facilitator.settle.next(answers(429));
    await manualWorker.doNext(second.id);
    await checkLate(flow, manualWorker, late);
    const { stage } = await Payment.query(flow.db).findById(second.id).throwIfNotFound();
    if (stage !== null) await manualWorker.doNext(second.id);
    await second.answer;
    assert.equal(
      movementsOf(second.signed).length,
      0,
      'a second payment moved money after the session was paid',
    );
    assert.equal((await flow.session(id)).paymentId, late);
    await flow.assertBooks();
  });

  it('leaves a payment in progress alone when the end of its call of /settle is unknown', async () => {
    const { id } = await flow.buildSession();
    const late = await payAndBeDenied(flow, manualWorker, id);
    const second = await send(flow, id);
    // A worker crashed during /settle, and long after the call must have ended the chain shows nothing of it.
    await beginSettlement(flow.app.db, { id: second.id, settleTimeoutMs: 1000 });
    const longAgo = new Date(nowMs() - MINUTE);
    await Payment.query(flow.db).patch({ dueAt: longAgo, settleAskedAt: longAgo }).where('id', second.id);
    await manualWorker.doNext(second.id);
    await checkLate(flow, manualWorker, late);
    // The facilitator carries the transaction out after all.
    const { from, to, value, nonce } = second.signed.payload.authorization;
    const transfer = { asset: second.signed.accepted.asset, from, payTo: to, amount: BigInt(value), nonce };
    flow.chain.movePayment(transfer);
    for (let steps = 0; steps < 10; steps += 1) {
      const { stage } = await Payment.query(flow.db).findById(second.id).throwIfNotFound();
      if (stage !== null) await manualWorker.doNext(second.id);
    }
    await second.answer;
    const payments = await flow.payments(id);
    assert.deepEqual(
      payments.map(({ status }) => status),
      ['succeeded', 'succeeded'],
      'the transfer of the second payment was not found',
    );
    assert.equal(payments.filter(({ surplus }) => surplus).length, 1);
  });

  it('leaves a payment in progress alone while Postgres may have forgotten that it was sent', async () => {
    const { id } = await flow.buildSession();
    const late = await payAndBeDenied(flow, manualWorker, id);
    const second = await send(flow, id);
    const { commits } = manualWorker.deps;
    const { mayHaveLost } = commits;
    commits.mayHaveLost = () => true;
    await checkLate(flow, manualWorker, late);
    commits.mayHaveLost = mayHaveLost;
    assert.equal((await flow.session(id)).status, 'processing');
    // The facilitator carries the forgotten call out.
    const { from, to, value, nonce } = second.signed.payload.authorization;
    const { asset } = second.signed.accepted;
    flow.chain.movePayment({ asset, from, payTo: to, amount: BigInt(value), nonce });
    for (let steps = 0; steps < 10; steps += 1) {
      const { stage } = await Payment.query(flow.db).findById(second.id).throwIfNotFound();
      if (stage !== null) await manualWorker.doNext(second.id);
    }
    await second.answer;
    const payments = await flow.payments(id);
    const told = payments.map(({ status, surplus }) => `${status}${surplus ? ', surplus' : ''}`);
    assert.deepEqual(told.sort(), ['succeeded', 'succeeded, surplus']);
  });

  it('is surplus when the payment in progress, already sent to /settle, succeeds', async () => {
    const { id } = await flow.buildSession();
    const late = await payAndBeDenied(flow, manualWorker, id);
    const second = await send(flow, id);
    const hold = flow.facilitator.settle.holdNext();
    const settling = manualWorker.doNext(second.id);
    await eventually(() => assert.equal(flow.calls(second.signed).settle, 1));
    await checkLate(flow, manualWorker, late);
    assert.equal((await flow.session(id)).status, 'processing');
    hold.release();
    await settling;
    assert.equal(await second.answer, '200 complete');
    assert.equal((await flow.session(id)).paymentId, second.id);
    assert.deepEqual(logged(), ['error payment.surplus']);
    await flow.assertBooks();
  });

  it('completes the session when the payment in progress, already sent to /settle, fails', async () => {
    const { id } = await flow.buildSession();
    const late = await payAndBeDenied(flow, manualWorker, id);
    const second = await send(flow, id);
    const hold = flow.facilitator.settle.holdNext(failsToSettle('kyt_risk_detected'));
    const settling = manualWorker.doNext(second.id);
    await eventually(() => assert.equal(flow.calls(second.signed).settle, 1));
    await checkLate(flow, manualWorker, late);
    hold.release();
    await settling;
    assert.equal((await flow.session(id)).paymentId, late);
    assert.equal(await second.answer, '409 session_already_paid');
    await flow.assertBooks();
  });

  it('counts once when two payments come late beside one in progress', async () => {
    const { id } = await flow.buildSession();
    const lates = [
      await payAndBeDenied(flow, manualWorker, id),
      await payAndBeDenied(flow, manualWorker, id),
    ];
    const third = await send(flow, id);
    const hold = flow.facilitator.settle.holdNext(failsToSettle('kyt_risk_detected'));
    const settling = manualWorker.doNext(third.id);
    await eventually(() => assert.equal(flow.calls(third.signed).settle, 1));
    for (const late of lates) await checkLate(flow, manualWorker, late);
    hold.release();
    await settling;
    await third.answer;
    assert.equal((await flow.session(id)).paymentId, lates[0]);
    assert.deepEqual(logged(), ['error payment.surplus']);
    await flow.assertBooks();
  });

  it("is surplus when the session is complete: a buyer's is listed among the payments, with an error line in the log", async () => {
    const { id } = await flow.buildSession();
    const late = await payAndBeDenied(flow, manualWorker, id);
    const second = await send(flow, id);
    await manualWorker.doNext(second.id);
    assert.equal(await second.answer, '200 complete');
    await checkLate(flow, manualWorker, late);
    assert.equal((await flow.session(id)).paymentId, second.id);
    assert.deepEqual(logged(), ['error payment.surplus']);
    const { body } = await client(flow.app, flow.merchant.testKey).get('/v1/payments?limit=2');
    const ids = body.data.map((payment: { id: string }) => payment.id);
    const listed = [late, second.id].filter((one) => ids.includes(one));
    assert.deepEqual(listed, kind === 'session' ? [late, second.id] : []);
    await flow.assertBooks();
  });

  it('of an authorization that ends in a month is waited for until 15 minutes after the last /settle, then watched for a week', async () => {
    const { id: sessionId } = await flow.buildSession();
    const validBefore = BigInt(Math.floor(nowMs() / 1000) + 30 * 24 * 3600);
    const signed = await flow.sign(sessionId, { validBefore });
    flow.facilitator.settle.always({ works: false, connection: 'drop' });
    const answer = flow.visit(sessionId, { 'PAYMENT-SIGNATURE': signed.header }).then(answerOf);
    const id = await eventually(async () => (await flow.onlyPayment(sessionId)).id);
    const read = async (): Promise<Payment> => await Payment.query(flow.db).findById(id).throwIfNotFound();

    let payment = await read();
    let firstUnused = 0;
    while (payment.status === 'processing') {
      await manualWorker.doNext(id);
      payment = await read();
      if (firstUnused === 0) firstUnused = payment.unusedSeenAt?.getTime() ?? 0;
    }
    const lastSettle = payment.settleEndedAt?.getTime() ?? 0;
    assert.equal(flow.calls(signed).settle, payment.settleCalls);
    assert.ok(firstUnused >= lastSettle + 15 * MINUTE, 'no check decides before 15 minutes are over');
    assert.ok(firstUnused < lastSettle + 16 * MINUTE);
    const failedAt = payment.failedAt?.getTime() ?? 0;
    assert.ok(failedAt >= firstUnused + 15_000 && failedAt < firstUnused + MINUTE, 'two checks 15 s apart');
    assert.equal((await flow.session(sessionId)).status, 'open');

    let watches = 0;
    let seenAt = failedAt;
    while (payment.stage === 'watch') {
      await manualWorker.doNext(id);
      assert.ok(nowMs() - seenAt <= HOUR + MINUTE, 'hourly');
      watches += 1;
      // For most of the week no worker checks: the pause after a check is the same in each hour.
      if (watches === WATCHED_HOURS / 2) advanceClock(WEEK - WATCHED_HOURS * HOUR);
      seenAt = nowMs();
      payment = await read();
    }
    assert.ok(watches >= WATCHED_HOURS && watches <= WATCHED_HOURS + 1, `${watches} watches`);
    assert.ok(seenAt <= failedAt + WEEK && seenAt >= failedAt + WEEK - HOUR - MINUTE);
    await answer;
    assert.equal(movementsOf(signed).length, 0);
  });
});
