import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type Behaviour, failsToSettle } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { PausePoint } from '../../../lab/world/processes/pause-points.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { Payment } from '../../../shared/payments/model.js';
import { advanceClock, nowMs } from '../../../shared/process/clock.js';
import { claimPayable } from '../../../shared/settlement/claim.js';
import { expireOverdueSessions } from '../../../shared/settlement/expire-overdue.js';
import { client } from '../../support/api-client.js';
import type { SignedPayment } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { EVENT_DEPS, openMoneyFlow } from '../../support/money-flow.js';
import { paymentOf } from '../../support/new-payment.js';

const HEADER = 'PAYMENT-SIGNATURE';
const MINUTE = 60_000;

describe('a session whose time runs out', () => {
  const flow = forAllTests(() => openMoneyFlow('expiry_races', { worker: false }));
  const manualWorker = forAllTests(() => flow.openManualWorker());
  beforeEach(() => flow.startNewBooks());
  afterEach(async () => {
    flow.facilitator.settle.honest();
    flow.facilitator.verify.honest();
    await PausePoint.removeAll();
  });

  interface Claimed {
    sessionId: string;
    paymentId: string;
    signed: SignedPayment;
    answer: Promise<string>;
    /** The `error` of the answer. */
    error: Promise<string>;
  }

  async function claim(): Promise<Claimed> {
    const { id: sessionId } = await flow.buildSession();
    const signed = await flow.sign(sessionId);
    const response = flow.visit(sessionId, { [HEADER]: signed.header }).then((res) => res);
    const { id: paymentId } = await eventually(() => flow.onlyPayment(sessionId));
    const error = response.then(({ body }) => body.error);
    return { sessionId, paymentId, signed, answer: response.then(answerOf), error };
  }

  /** Moves the session's end into the past, in whatever state it is. */
  async function runOut(sessionId: string): Promise<void> {
    await CheckoutSession.query(flow.db)
      .patch({ expiresAt: new Date(nowMs() - 1) })
      .where('id', sessionId);
  }

  const expire = (): Promise<number> => expireOverdueSessions(flow.app.db, 100, EVENT_DEPS);

  async function expireByMerchant(sessionId: string): Promise<string> {
    const merchant = client(flow.app, flow.merchant.testKey);
    return answerOf(await merchant.post(`/v1/checkout/sessions/${sessionId}/expire`));
  }

  async function settleHeld({ paymentId, signed }: Claimed, behaviour: Behaviour = {}) {
    const hold = flow.facilitator.settle.holdNext(behaviour);
    const done = manualWorker.doNext(paymentId);
    await eventually(() => assert.equal(flow.calls(signed).settle, 1));
    return { release: () => hold.release(), done };
  }

  it('before its payment is settled completes', async () => {
    const payment = await claim();
    await runOut(payment.sessionId);
    assert.equal(await expire(), 0);
    await manualWorker.doNext(payment.paymentId);
    assert.equal(await payment.answer, '200 complete');
    assert.deepEqual(await flow.events(payment.sessionId), ['checkout.session.completed']);
    await flow.assertBooks();
  });

  it('while its money moves completes', async () => {
    const payment = await claim();
    const settling = await settleHeld(payment);
    await runOut(payment.sessionId);
    assert.equal(await expire(), 0);
    assert.equal(await expireByMerchant(payment.sessionId), '400 checkout_session_not_open');
    assert.equal(answerOf(await flow.visit(payment.sessionId)), '202 processing');
    settling.release();
    await settling.done;
    assert.equal(await payment.answer, '200 complete');
    assert.deepEqual(await flow.events(payment.sessionId), ['checkout.session.completed']);
    await flow.assertBooks();
  });

  it('while its payment certainly fails is expired with one event', async () => {
    const payment = await claim();
    const settling = await settleHeld(payment, failsToSettle('kyt_risk_detected'));
    await runOut(payment.sessionId);
    settling.release();
    await settling.done;
    assert.equal(await payment.answer, '402 kyt_risk_detected');
    assert.match(
      await payment.error,
      /no money moved\. .* This link has expired\. It can no longer be paid: /,
    );
    assert.equal(await expire(), 0);
    assert.deepEqual(await flow.state(payment.sessionId), {
      session: 'expired',
      payments: ['failed'],
      events: ['checkout.session.expired'],
    });
    assert.equal(answerOf(await flow.visit(payment.sessionId)), '410 session_expired');
    await flow.assertBooks();
  });

  it('after its payment failed is expired by the sweep', async () => {
    const payment = await claim();
    flow.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
    await manualWorker.doNext(payment.paymentId);
    assert.equal(await payment.answer, '402 kyt_risk_detected');
    await runOut(payment.sessionId);
    assert.equal(answerOf(await flow.visit(payment.sessionId)), '410 session_expired');
    assert.equal(await expire(), 1);
    assert.deepEqual(await flow.events(payment.sessionId), ['checkout.session.expired']);
    await flow.assertBooks();
  });

  it('while its payment is unclear waits for the chain, which has the transfer, and completes', async () => {
    const payment = await claim();
    flow.facilitator.settle.next({ connection: 'drop' });
    await manualWorker.doNext(payment.paymentId);
    await runOut(payment.sessionId);
    assert.equal(await expire(), 0);
    assert.equal(answerOf(await flow.visit(payment.sessionId)), '202 processing');
    await manualWorker.doNext(payment.paymentId);
    assert.equal(await payment.answer, '200 complete');
    assert.deepEqual(await flow.events(payment.sessionId), ['checkout.session.completed']);
    await flow.assertBooks();
  });

  it('while its payment is unclear is expired once the chain says that the authorization can no longer be used', async () => {
    const payment = await claim();
    flow.facilitator.settle.always({ works: false, connection: 'drop' });
    await runOut(payment.sessionId);
    let checks = 0;
    for (; (await flow.session(payment.sessionId)).status === 'processing'; checks += 1) {
      await manualWorker.doNext(payment.paymentId);
      assert.equal(await expire(), 0);
    }
    assert.ok(checks > 3, `${checks} steps`);
    const { validUntil, failedAt } = await Payment.query(flow.db)
      .findById(payment.paymentId)
      .throwIfNotFound();
    assert.ok(
      failedAt !== null && failedAt > validUntil,
      'the payment failed while the authorization could be used',
    );
    assert.deepEqual(await flow.events(payment.sessionId), ['checkout.session.expired']);
    await payment.answer;
    await flow.assertBooks();
  });

  it('during /verify is not claimed', async () => {
    const { id } = await flow.buildSession();
    const signed = await flow.sign(id);
    const hold = flow.facilitator.verify.holdNext();
    const answer = flow.visit(id, { [HEADER]: signed.header }).then(answerOf);
    await eventually(() => assert.equal(flow.calls(signed).verify, 1));
    await runOut(id);
    hold.release();
    assert.equal(await answer, '410 session_expired');
    assert.deepEqual(await flow.payments(id), []);
    assert.equal(await expire(), 1);
    await flow.assertBooks();
  });

  it('is claimed one millisecond before its end, and not at its end', async () => {
    const claims: string[] = [];
    for (const millisecondsLeft of [0, 1]) {
      const { id } = await flow.buildSession();
      const signed = await flow.sign(id);
      const clock = Date.now;
      const stoppedAt = clock();
      Date.now = () => stoppedAt;
      try {
        await CheckoutSession.query(flow.db)
          .patch({ expiresAt: new Date(nowMs() + millisecondsLeft) })
          .where('id', id);
        const claim = await claimPayable(flow.app.db, paymentOf(id, signed), EVENT_DEPS);
        claims.push(claim.kind);
        if (claim.kind === 'claimed') await manualWorker.doNext(claim.paymentId);
      } finally {
        Date.now = clock;
      }
    }
    assert.deepEqual(claims, ['lost', 'claimed']);
    await expire();
    await flow.assertBooks();
  });

  it("while a claim waits in its commit: the sweep skips it, the merchant's expire waits and is refused", async () => {
    const { id } = await flow.buildSession({ expiresAt: new Date(nowMs() + MINUTE) });
    const when = `NEW.payable_id = '${id}'`;
    const pause = await PausePoint.put(flow.databaseUrl, {
      table: 'payments',
      on: 'INSERT',
      when,
      moment: 'commit',
    });
    const answer = flow.pay(id).then(answerOf);
    await pause.reached();
    advanceClock(MINUTE);
    assert.equal(await expire(), 0);
    const merchant = expireByMerchant(id);
    await eventually(async () => assert.equal(await waitingFor('checkout_sessions'), 1));
    await pause.release();
    assert.equal(await merchant, '400 checkout_session_not_open');
    await manualWorker.doNext((await flow.onlyPayment(id)).id);
    assert.match(await answer, /^20[02] (processing|complete)$/);
    assert.equal(answerOf(await flow.visit(id)), '200 complete');
    assert.deepEqual(await flow.events(id), ['checkout.session.completed']);
    await flow.assertBooks();
  });

  it('while its expiry waits in its commit: a claim waits and is refused', async () => {
    const { id } = await flow.buildSession();
    const signed = await flow.sign(id);
    const when = `NEW.payable_id = '${id}'`;
    const pause = await PausePoint.put(flow.databaseUrl, {
      table: 'events',
      on: 'INSERT',
      when,
      moment: 'commit',
    });
    const merchant = expireByMerchant(id);
    await pause.reached();
    const answer = flow.visit(id, { [HEADER]: signed.header }).then(answerOf);
    await eventually(async () => assert.equal(await waitingFor('claimed'), 1));
    await pause.release();
    assert.equal(await merchant, '200 expired');
    assert.equal(await answer, '410 session_expired');
    assert.equal(flow.calls(signed).settle, 0);
    await flow.assertBooks();
  });

  it('at the moment of its payment, like forty others: either the payment or the expiry wins', async () => {
    const sessions = await Promise.all(Array.from({ length: 40 }, () => flow.buildSession()));
    const signed = await Promise.all(sessions.map(async ({ id }) => ({ id, ...(await flow.sign(id)) })));
    const paying = signed.map(({ id, header }, index) => ({
      id,
      answer: flow.visit(id, { [HEADER]: header }).then(answerOf),
      expired: wait(Math.random() * 150).then(async () => {
        await (index % 2 === 0 ? expireByMerchant(id) : runOut(id).then(expire));
      }),
    }));
    let areAnswered = false;
    const answers = Promise.all(paying.map(({ answer }) => answer)).finally(() => {
      areAnswered = true;
    });
    while (!areAnswered) {
      const due = await Payment.query(flow.db).where({ stage: 'settle' });
      await Promise.all(due.map(({ id }) => manualWorker.doNext(id)));
    }
    await answers;
    const outcomes = new Set<string>();
    for (const { id, answer, expired } of paying) {
      await expired;
      await expire();
      const { session, events } = await flow.state(id);
      outcomes.add(`${await answer}, ${session}, ${events}`);
    }
    assert.deepEqual(
      [...outcomes].sort().filter((outcome) => !OUTCOMES.includes(outcome)),
      [],
    );
    await flow.assertBooks();
  });

  /** Counts the connections that wait for a lock with this word in their statement. */
  async function waitingFor(word: string): Promise<number> {
    const { rows } = await flow.db.raw(
      `SELECT 1 FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event <> 'advisory' AND query LIKE ?`,
      [`%${word}%`],
    );
    return rows.length;
  }
});

const OUTCOMES = [
  '200 complete, complete, checkout.session.completed',
  '410 session_expired, expired, checkout.session.expired',
];
