import assert from 'node:assert/strict';
import type { Response } from 'supertest';
import { answers, type Behaviour, failsToSettle, refuses } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import type { Knex } from '../../../shared/db/knex.js';
import { advanceClock, now } from '../../../shared/process/clock.js';
import { FAILED, openCheckout } from '../../support/checkout.js';
import { pairForAllTests } from '../../support/checkout-pair.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';

const NO_FUNDS = failsToSettle('kyt_risk_detected');

describe('a payment that was answered 202', () => {
  const { checkout: waiting, noWait } = pairForAllTests();

  const newId = async (): Promise<string> => (await noWait.buildSession()).id;

  /** Pays and gets 202; the outcome comes later. */
  async function failInBackground(id: string, behaviour: Behaviour = NO_FUNDS): Promise<void> {
    const hold = noWait.facilitator.settle.holdNext(behaviour);
    assert.equal(answerOf(await noWait.pay(id)), '202 processing');
    assert.equal(answerOf(await noWait.visit(id)), '202 processing');
    hold.release();
    await eventually(async () => assert.equal((await noWait.session(id)).status, 'open'));
  }

  it('that failed is told as one that may have been taken while Postgres may have forgotten a later payment', async () => {
    const id = await newId();
    await failInBackground(id);
    const { commits } = noWait.app;
    const { mayHaveLost } = commits;
    commits.mayHaveLost = () => true;
    const res = await noWait.visit(id);
    commits.mayHaveLost = mayHaveLost;
    assert.equal(answerOf(res), '402 outcome_unknown');
    assert.match(res.body.error, /may have been taken.*Do not pay again/);
  });

  it('that failed is reported with its code and reason to every GET, in body and header', async () => {
    const id = await newId();
    await failInBackground(id);
    for (const asker of [noWait, waiting]) {
      const res = await asker.visit(id);
      assert.equal(answerOf(res), '402 kyt_risk_detected');
      assert.match(res.body.error, /takes no payment from this wallet/);
      assert.equal(res.body.accepts.length, 12);
      assert.equal(res.get('PAYMENT-RESPONSE'), undefined);
    }
    const head = await noWait.send('head', id);
    assert.equal(head.status, 402);
    assert.equal(head.get('PAYMENT-REQUIRED'), (await noWait.visit(id)).get('PAYMENT-REQUIRED'));
    assert.equal(answerOf(await noWait.visit(id, { Accept: 'text/html' })), '200 page');
    assert.deepEqual(await noWait.state(id), FAILED);
  });

  it('that failed is reported in whole sentences where the wanted network is not offered', async () => {
    const id = await newId();
    await failInBackground(id);
    const res = await fetch(`http://127.0.0.1:${noWait.app.port}/c/${id}?network=eip155:5`);
    const { code, error, accepts } = JSON.parse(await res.text());
    assert.deepEqual([res.status, code, accepts], [402, 'kyt_risk_detected', []]);
    assert.match(error, /ask the merchant\. Nothing is offered/);
  });

  it('that failed is reported for ten minutes', async () => {
    const id = await newId();
    await failInBackground(id);
    advanceClock(595_000);
    assert.equal(answerOf(await noWait.visit(id)), '402 kyt_risk_detected');
    advanceClock(10_000);
    assert.equal(answerOf(await noWait.visit(id)), '402');
  });

  it('that failed is reported until the next payment claims the session', async () => {
    const id = await newId();
    await failInBackground(id);
    waiting.facilitator.verify.next(refuses('invalid_exact_evm_recipient_mismatch'));
    const refused = await waiting.pay(id);
    assert.equal(answerOf(refused), '402 invalid_exact_evm_payload_recipient_mismatch');
    assert.equal(answerOf(await noWait.visit(id)), '402 kyt_risk_detected');

    waiting.facilitator.settle.next(failsToSettle('invalid_network'));
    assert.equal(answerOf(await waiting.pay(id)), '402 invalid_network');
    assert.equal(answerOf(await noWait.visit(id)), '402');
    assert.equal(answerOf(await waiting.pay(id)), '200 complete');
  });

  it('that failed replaces the report of an earlier failure', async () => {
    const id = await newId();
    await failInBackground(id);
    await failInBackground(id, failsToSettle('invalid_scheme'));
    assert.equal(answerOf(await noWait.visit(id)), '402 invalid_scheme');
  });

  it('that failed is not reported again when the paying request got the failure', async () => {
    const { id } = await waiting.buildSession();
    waiting.facilitator.settle.next(NO_FUNDS);
    assert.equal(answerOf(await waiting.pay(id)), '402 kyt_risk_detected');
    assert.equal(answerOf(await waiting.visit(id)), '402');
    assert.equal(answerOf(await noWait.visit(id)), '402');
  });

  it('that the facilitator turned away is reported as 402 payment_service_unavailable, and may be sent again', async () => {
    const id = await newId();
    const payment = await noWait.sign(id);
    const headers = { 'PAYMENT-SIGNATURE': payment.header };
    noWait.facilitator.settle.next(answers(401), answers(403), answers(429));
    assert.equal(answerOf(await noWait.visit(id, headers)), '202 processing');
    await eventually(async () => assert.deepEqual(await noWait.state(id), FAILED));
    const res = await noWait.visit(id);
    assert.equal(answerOf(res), '402 payment_service_unavailable');
    // The facilitator did not refuse the payment.
    assert.doesNotMatch(res.body.error, /refused|another entry/i);
    assert.equal(answerOf(await waiting.visit(id, headers)), '200 complete');
  });

  describe('because the outcome came after the wait', () => {
    const shortWait = forAllTests(() => {
      const { facilitator } = waiting;
      return openCheckout({ facilitator, worker: false, environment: { SETTLE_WAIT_MS: '300' } });
    });

    for (const [what, behaviour, answer] of [
      ['is 200 to a plain GET', {}, '200 complete'],
      ['that failed is reported', NO_FUNDS, '402 kyt_risk_detected'],
    ] as const) {
      it(what, async () => {
        const { id } = await shortWait.buildSession();
        const payment = await shortWait.sign(id);
        const hold = shortWait.facilitator.settle.holdNext(behaviour);
        const res = await shortWait.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
        assert.equal(answerOf(res), '202 processing');
        hold.release();
        await eventually(async () => assert.equal(answerOf(await shortWait.visit(id)), answer));
        assert.deepEqual(shortWait.calls(payment), { verify: 1, settle: 1 });
      });
    }

    it('because /verify used up the wait: 200 to a plain GET', async () => {
      const { id } = await shortWait.buildSession();
      const payment = await shortWait.sign(id);
      const hold = shortWait.facilitator.verify.holdNext();
      const settling = shortWait.facilitator.settle.holdNext();
      const paying = shortWait.visit(id, { 'PAYMENT-SIGNATURE': payment.header }).then(answerOf);
      await eventually(() => assert.equal(shortWait.calls(payment).verify, 1));
      advanceClock(1_000);
      hold.release();
      // The clock is past the wait, so the answer is sent as soon as the payment is claimed.
      assert.equal(await paying, '202 processing');
      settling.release();
      await eventually(async () => assert.equal(answerOf(await shortWait.visit(id)), '200 complete'));
    });
  });
});

describe('a payment that is decided just as the answer 202 is sent', () => {
  const checkout = forAllTests(() => openCheckout({ worker: false }));

  /** The web process has read that the payment is undecided; `decide` commits before it records its answer of 202. */
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

  it('that failed is reported in this answer or to the next GET', async () => {
    const { id } = await checkout.buildSession();
    const res = await decideWhileAnswering(id, async (trx) => {
      await trx.raw(
        `UPDATE payments SET status = 'failed', failure_code = 'kyt_risk_detected', failed_at = ?, stage = NULL, due_at = NULL
         WHERE payable_id = ?`,
        [now(), id],
      );
      await trx.raw(`UPDATE checkout_sessions SET status = 'open', payment_id = NULL WHERE id = ?`, [id]);
    });
    const answer = answerOf(res) === '202 processing' ? await checkout.visit(id) : res;
    assert.equal(answerOf(answer), '402 kyt_risk_detected');
  });
});
