import assert from 'node:assert/strict';
import type { Response } from 'supertest';
import { answers, type Behaviour, failsToSettle, refuses } from '../../lab/world/facilitator/dial.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import type { Knex } from '../../shared/db/knex.js';
import { advanceClock, now, resetClock } from '../../shared/process/clock.js';
import { type Checkout, openCheckout, type SignedPayment } from '../support/checkout.js';
import { told } from '../support/link-answers.js';

const NO_FUNDS = failsToSettle('insufficient_funds');
const FAILED = { session: 'open', payments: ['failed'], events: [] };

describe('a payment that was answered 202', () => {
  /** Waits for an outcome. */
  let patient: Checkout;
  /** Answers 202 as soon as a payment is claimed; the same facilitator and worker serve both. */
  let hasty: Checkout;

  before(async () => {
    patient = await openCheckout();
    const { facilitator } = patient;
    hasty = await openCheckout({ facilitator, worker: false, environment: { SETTLE_WAIT_MS: '0' } });
  });
  afterEach(() => {
    resetClock();
    for (const dial of [patient.facilitator.verify, patient.facilitator.settle]) {
      dial.honest();
      dial.releaseAll();
    }
  });
  after(async () => {
    await patient.close();
    await hasty.close();
  });

  const newId = async (): Promise<string> => (await hasty.buildSession()).id;

  /** Answered 202; the outcome comes when it is released. */
  async function pay(id: string, behaviour: Behaviour = {}): Promise<{ release(): void }> {
    const hold = hasty.facilitator.settle.holdNext(behaviour);
    assert.equal(told(await hasty.pay(id)), '202 processing');
    return hold;
  }

  async function failInBackground(id: string, behaviour: Behaviour = NO_FUNDS): Promise<void> {
    const { release } = await pay(id, behaviour);
    assert.equal(told(await hasty.visit(id)), '202 processing');
    release();
    await eventually(async () => assert.equal((await hasty.session(id)).status, 'open'));
  }

  it('is 200 to a plain GET when it went well', async () => {
    const id = await newId();
    const { release } = await pay(id);
    assert.equal(told(await hasty.visit(id)), '202 processing');
    release();
    await eventually(async () => assert.equal(told(await hasty.visit(id)), '200 complete'));
  });

  it('is told with its code and why to whoever asks, when it failed, in the body and in the header', async () => {
    const id = await newId();
    await failInBackground(id);
    for (const asker of [hasty, patient]) {
      const res = await asker.visit(id);
      assert.equal(told(res), '402 insufficient_funds');
      assert.match(res.body.error, /does not hold enough/);
      assert.equal(res.body.accepts.length, 12);
      assert.equal(res.get('PAYMENT-RESPONSE'), undefined);
    }
    const head = await hasty.send('head', id);
    assert.equal(head.status, 402);
    assert.equal(head.get('PAYMENT-REQUIRED'), (await hasty.visit(id)).get('PAYMENT-REQUIRED'));
    assert.equal(told(await hasty.visit(id, { Accept: 'text/html' })), '200 page');
    assert.deepEqual(await hasty.state(id), FAILED);
  });

  it('is told for ten minutes', async () => {
    const id = await newId();
    await failInBackground(id);
    advanceClock(595_000);
    assert.equal(told(await hasty.visit(id)), '402 insufficient_funds');
    advanceClock(10_000);
    assert.equal(told(await hasty.visit(id)), '402');
  });

  it('is told until the next payment claims the session', async () => {
    const id = await newId();
    await failInBackground(id);
    patient.facilitator.verify.next(refuses('invalid_exact_evm_recipient_mismatch'));
    const refused = await patient.pay(id);
    assert.equal(told(refused), '402 invalid_exact_evm_payload_recipient_mismatch');
    assert.equal(told(await hasty.visit(id)), '402 insufficient_funds');

    patient.facilitator.settle.next(failsToSettle('invalid_transaction_state'));
    assert.equal(told(await patient.pay(id)), '402 invalid_transaction_state');
    assert.equal(told(await hasty.visit(id)), '402');
    assert.equal(told(await patient.pay(id)), '200 complete');
  });

  it('is told of the last one, when several failed', async () => {
    const id = await newId();
    await failInBackground(id);
    await failInBackground(id, failsToSettle('unexpected_settle_error'));
    assert.equal(told(await hasty.visit(id)), '402 unexpected_settle_error');
  });

  it('is not told when the payer heard of it in the answer', async () => {
    const { id } = await patient.buildSession();
    patient.facilitator.settle.next(NO_FUNDS);
    assert.equal(told(await patient.pay(id)), '402 insufficient_funds');
    assert.equal(told(await patient.visit(id)), '402');
    assert.equal(told(await hasty.visit(id)), '402');
  });

  it('is gone with its session, when that has expired meanwhile', async () => {
    const { id } = await hasty.buildSession({ expiresAt: new Date(now().getTime() + 20_000) });
    const { release } = await pay(id, NO_FUNDS);
    advanceClock(25_000);
    release();
    await eventually(async () => assert.equal((await hasty.session(id)).status, 'expired'));
    assert.equal(told(await hasty.visit(id)), '410 session_expired');
    assert.deepEqual(await hasty.events(id), ['checkout.session.expired']);
  });

  it('is told when the facilitator could not be asked to settle, and may be sent again', async () => {
    const id = await newId();
    const payment = await hasty.sign(id);
    const headers = { 'PAYMENT-SIGNATURE': payment.header };
    hasty.facilitator.settle.next(answers(401), answers(403), answers(429));
    assert.equal(told(await hasty.visit(id, headers)), '202 processing');
    await eventually(async () => assert.deepEqual(await hasty.state(id), FAILED));
    const res = await hasty.visit(id);
    assert.equal(told(res), '402 payment_service_unavailable');
    // Nobody has refused anything.
    assert.doesNotMatch(res.body.error, /refused|another entry/i);
    assert.equal(told(await patient.visit(id, headers)), '200 complete');
  });

  describe('because the outcome came later than the wait', () => {
    let brief: Checkout;
    before(async () => {
      const { facilitator } = patient;
      brief = await openCheckout({ facilitator, worker: false, environment: { SETTLE_WAIT_MS: '300' } });
    });
    after(() => brief.app.close());

    async function payAndWait(behaviour: Behaviour): Promise<{ id: string; payment: SignedPayment }> {
      const { id } = await brief.buildSession();
      const payment = await brief.sign(id);
      const hold = brief.facilitator.settle.holdNext(behaviour);
      const res = await brief.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(told(res), '202 processing');
      hold.release();
      return { id, payment };
    }

    it('is 200 to a plain GET', async () => {
      const { id, payment } = await payAndWait({});
      await eventually(async () => assert.equal(told(await brief.visit(id)), '200 complete'));
      assert.deepEqual(brief.calls(payment), { verify: 1, settle: 1 });
    });

    it('is told when it failed', async () => {
      const { id } = await payAndWait(NO_FUNDS);
      await eventually(async () => assert.equal(told(await brief.visit(id)), '402 insufficient_funds'));
    });

    it('though /verify alone had used up the wait', async () => {
      const { id } = await brief.buildSession();
      const payment = await brief.sign(id);
      const hold = brief.facilitator.verify.holdNext();
      const settling = brief.facilitator.settle.holdNext();
      const paying = brief.visit(id, { 'PAYMENT-SIGNATURE': payment.header }).then(told);
      await eventually(() => assert.equal(brief.calls(payment).verify, 1));
      advanceClock(1_000);
      hold.release();
      // With our clock beyond the wait, it is answered as soon as it is claimed.
      assert.equal(await paying, '202 processing');
      settling.release();
      await eventually(async () => assert.equal(told(await brief.visit(id)), '200 complete'));
    });
  });
});

describe('a payment that is decided in the very moment of the answer 202', () => {
  let checkout: Checkout;
  before(async () => {
    checkout = await openCheckout({ worker: false });
  });
  after(() => checkout.close());

  /** The answer finds the payment undecided, and is about to note that it was 202, when `decide` is through. */
  async function decideWhileAnswering(
    id: string,
    decide: (trx: Knex.Transaction) => Promise<void>,
  ): Promise<Response> {
    const { db, settlements } = checkout.app;
    const payment = await checkout.sign(id);
    const paying = checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header }).then((res) => res);
    const { id: paymentId } = await eventually(() => checkout.payment(id));
    await db.transaction(async (trx) => {
      await trx.raw('SELECT id FROM payments WHERE id = ? FOR UPDATE', [paymentId]);
      settlements.close();
      await eventually(async () => {
        const { rows } = await db.raw(
          `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%answered_processing%'`,
        );
        assert.equal(rows.length, 1);
      });
      await decide(trx);
    });
    return await paying;
  }

  it('is not lost: whoever paid is told that it failed, now or by a later GET', async () => {
    const { id } = await checkout.buildSession();
    const res = await decideWhileAnswering(id, async (trx) => {
      await trx.raw(
        `UPDATE payments SET status = 'failed', failure_code = 'insufficient_funds', failed_at = ?, stage = NULL, due_at = NULL
         WHERE checkout_session_id = ?`,
        [now(), id],
      );
      await trx.raw(`UPDATE checkout_sessions SET status = 'open', payment_id = NULL WHERE id = ?`, [id]);
    });
    const answer = told(res) === '202 processing' ? await checkout.visit(id) : res;
    assert.equal(told(answer), '402 insufficient_funds');
  });
});
