import assert from 'node:assert/strict';
import { failsToSettle } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { EVM_WALLET } from '../../../lab/world/shop/factories.js';
import { updateAccount } from '../../../shared/accounts/accounts.js';
import type { Knex } from '../../../shared/db/knex.js';
import { Payable } from '../../../shared/payables/model.js';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import { PAID, UNTOUCHED } from '../../support/checkout.js';
import { pairForAllTests } from '../../support/checkout-pair.js';
import { countEach, newIds, sendHeader } from '../../support/claims.js';
import { describeBothKinds } from '../../support/kinds.js';
import { answerOf, receiptOf } from '../../support/link-answers.js';

/** More than the connections of a web process to the facilitator, for which some have to wait. */
const CLAIMS = 40;

describeBothKinds('a payment claims its session', (kind) => {
  const { checkout, noWait } = pairForAllTests(kind);

  const newId = async (): Promise<string> => (await checkout.buildSession()).id;

  describe('once,', () => {
    /** One payment was taken, and each other one was told so. */
    async function assertPaidOnce(id: string, answers: string[]): Promise<void> {
      const counts = countEach(answers);
      assert.equal(counts['200 complete'], 1);
      const refused = (counts['409 processing'] ?? 0) + (counts['409 session_already_paid'] ?? 0);
      assert.equal(refused, answers.length - 1, JSON.stringify(counts));
      assert.deepEqual(await checkout.state(id), PAID);
    }

    it(`with ${CLAIMS} valid signatures at the same instant`, async () => {
      const id = await newId();
      const payments = await Promise.all(Array.from({ length: CLAIMS }, () => checkout.sign(id)));
      const answers = await Promise.all(payments.map(({ header }) => sendHeader(checkout, id, header)));
      await assertPaidOnce(id, answers);
      const calls = payments.map((payment) => checkout.calls(payment));
      assert.equal(calls.filter(({ settle }) => settle === 1).length, 1);
      assert.ok(calls.every(({ verify, settle }) => verify <= 1 && settle <= 1));
      const moved = payments.filter(({ payload }) =>
        checkout.facilitator.ledger.some(({ paymentId }) => paymentId === payload.authorization.nonce),
      );
      assert.equal(moved.length, 1);
    });

    it(`with ${CLAIMS} payments, of which twenty passed /verify before the first claim`, async () => {
      const id = await newId();
      const payments = await Promise.all(Array.from({ length: CLAIMS }, () => checkout.sign(id)));
      const hold = checkout.facilitator.verify.holdAll();
      const paying = payments.map(({ header }) => sendHeader(checkout, id, header));
      // A web process has 20 connections to the facilitator; the other payments wait for one.
      await eventually(() => {
        const asked = payments.filter((payment) => checkout.calls(payment).verify === 1);
        assert.ok(asked.length >= 20, 'fewer than 20 payments were verified');
      });
      hold.release();
      await assertPaidOnce(id, await Promise.all(paying));
      assert.equal(payments.filter((payment) => checkout.calls(payment).settle > 0).length, 1);
    });

    it('with one signature on twenty sessions at the same instant', async () => {
      const ids = await newIds(checkout, 20);
      const payment = await checkout.sign(ids[0] ?? '');
      const answers = await Promise.all(ids.map((id) => sendHeader(checkout, id, payment.header)));
      assert.deepEqual(countEach(answers), { '200 complete': 1, '409 signature_already_used': 19 });
      assert.equal(checkout.calls(payment).settle, 1);
      const states = await Promise.all(ids.map((id) => checkout.state(id)));
      assert.equal(states.filter(({ session }) => session === 'complete').length, 1);
      assert.equal(states.filter(({ payments }) => payments.length > 0).length, 1);
      for (const state of states) assert.deepEqual(state, state.session === 'complete' ? PAID : UNTOUCHED);
    });

    it('with one signature sent twenty times to one session at the same instant', async () => {
      const id = await newId();
      const payment = await checkout.sign(id);
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => sendHeader(checkout, id, payment.header)),
      );
      await assertPaidOnce(id, answers);
      assert.equal(checkout.calls(payment).settle, 1);
    });
  });

  describe('and its header, sent again,', () => {
    it("gets 409 with the payment's receipt, and a GET gets 200", async () => {
      const id = await newId();
      const payment = await checkout.sign(id);
      const paid = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
      const again = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(answerOf(again), '409 session_already_paid');
      assert.deepEqual(receiptOf(again), receiptOf(paid));
      assert.equal(again.get('X-PAYMENT-RESPONSE'), again.get('PAYMENT-RESPONSE'));
      assert.equal(answerOf(await checkout.visit(id)), '200 complete');
      assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
    });

    it('gets 409 while the payment is in progress: processing on its session, used on any other', async () => {
      const [first = '', second = ''] = await newIds(checkout, 2);
      const payment = await checkout.sign(first);
      const hold = checkout.facilitator.settle.holdNext();
      const started = await noWait.visit(first, { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(answerOf(started), '202 processing');
      assert.equal(await sendHeader(checkout, first, payment.header), '409 processing');
      assert.equal(await sendHeader(checkout, second, payment.header), '409 signature_already_used');
      hold.release();
      await eventually(async () => assert.deepEqual(await checkout.state(first), PAID));
      assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
    });

    it('is used after its payment failed, on every session; a new signature pays', async () => {
      const [first = '', second = ''] = await newIds(checkout, 2);
      const payment = await checkout.sign(first);
      checkout.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
      assert.equal(await sendHeader(checkout, first, payment.header), '402 kyt_risk_detected');
      for (const id of [first, second]) {
        assert.equal(await sendHeader(checkout, id, payment.header), '409 signature_already_used');
      }
      assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
      assert.equal(answerOf(await checkout.pay(first)), '200 complete');
      assert.deepEqual(await checkout.state(first), {
        session: 'complete',
        payments: ['failed', 'succeeded'],
        events: ['checkout.session.completed'],
      });
    });
  });

  it("with the wallet that was offered, after the account's wallet has changed", async () => {
    const id = await newId();
    const payment = await checkout.sign(id);
    const hold = checkout.facilitator.settle.holdNext({
      works: false,
      answer: () => ({ status: 401, body: {} }),
    });
    assert.equal(answerOf(await noWait.visit(id, { 'PAYMENT-SIGNATURE': payment.header })), '202 processing');
    await eventually(() => assert.equal(checkout.calls(payment).settle, 1));
    const { accountId } = checkout.merchant;
    const another = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    await updateAccount(checkout.app.db, accountId, { evmWallet: another });
    try {
      hold.release();
      await eventually(async () => assert.deepEqual(await checkout.state(id), PAID));
    } finally {
      await updateAccount(checkout.app.db, accountId, { evmWallet: EVM_WALLET });
    }
    const { body } = checkout.facilitator.calls.settle.at(-1) ?? {};
    assert.equal((body as FacilitatorRequest).paymentRequirements.payTo, payment.accepted.payTo);
    const [paid] = await checkout.payments(id);
    assert.equal(paid?.payTo, payment.accepted.payTo);
    assert.equal(paid?.payTo === EVM_WALLET, kind === 'session');
  });

  it('even when the buyer disconnects before the answer', async () => {
    const id = await newId();
    const payment = await checkout.sign(id);
    const hold = checkout.facilitator.settle.holdNext();
    const hangUp = new AbortController();
    const link = `http://127.0.0.1:${checkout.app.port}/c/${id}`;
    const headers = { 'PAYMENT-SIGNATURE': payment.header };
    const paying = assert.rejects(fetch(link, { headers, signal: hangUp.signal }));
    await eventually(() => assert.equal(checkout.calls(payment).settle, 1));
    hangUp.abort();
    await paying;
    hold.release();
    await eventually(async () => assert.equal(answerOf(await checkout.visit(id)), '200 complete'));
    assert.deepEqual(await checkout.state(id), PAID);
  });

  describe('or is refused:', () => {
    async function whileVerifying(id: string, change: () => Promise<unknown>): Promise<string> {
      const payment = await checkout.sign(id);
      const hold = checkout.facilitator.verify.holdNext();
      const paying = sendHeader(checkout, id, payment.header);
      await eventually(() => assert.equal(checkout.calls(payment).verify, 1));
      await change();
      hold.release();
      const answer = await paying;
      assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 0 });
      return answer;
    }

    it('410 when the merchant expired the session during /verify', async () => {
      const id = await newId();
      const expire = (): Promise<unknown> =>
        Payable.query(checkout.app.db).findById(id).patch({ status: 'expired' }).execute();
      assert.equal(await whileVerifying(id, expire), '410 session_expired');
    });

    it('409 when another payment has completed the session during /verify', async () => {
      const id = await newId();
      const answer = await whileVerifying(id, async () => {
        assert.equal(answerOf(await checkout.pay(id)), '200 complete');
      });
      assert.equal(answer, '409 session_already_paid');
      assert.deepEqual(await checkout.state(id), PAID);
    });

    it('409 when another payment has claimed the session during /verify', async () => {
      const id = await newId();
      const faster = await checkout.sign(id);
      const answer = await whileVerifying(id, async () => {
        checkout.facilitator.settle.holdNext();
        assert.equal(
          answerOf(await noWait.visit(id, { 'PAYMENT-SIGNATURE': faster.header })),
          '202 processing',
        );
      });
      assert.equal(answer, '409 processing');
      checkout.facilitator.settle.releaseAll();
      await eventually(async () => assert.deepEqual(await checkout.state(id), PAID));
    });

    for (const [where, expected, state] of [
      ['its own link', '409 session_already_paid', PAID],
      ['another link', '409 signature_already_used', UNTOUCHED],
    ] as const) {
      it(`409 when a copy of it has paid ${where} during /verify, which finds it used`, async () => {
        const paid = await newId();
        const id = where === 'its own link' ? paid : await newId();
        const payment = await checkout.sign(paid);
        const headers = { 'PAYMENT-SIGNATURE': payment.header };
        const hold = checkout.facilitator.verify.holdNext();
        const late = checkout.visit(id, headers).then((res) => res);
        await eventually(() => assert.equal(checkout.calls(payment).verify, 1));
        assert.equal(answerOf(await checkout.visit(paid, headers)), '200 complete');
        hold.release();
        const answer = await late;
        assert.equal(answerOf(answer), expected);
        assert.equal(receiptOf(answer)?.success, id === paid ? true : undefined);
        assert.deepEqual(checkout.calls(payment), { verify: 2, settle: 1 });
        assert.deepEqual(await checkout.state(id), state);
      });
    }

    it('not when another payment was faster and has failed: it pays', async () => {
      const id = await newId();
      const slower = await checkout.sign(id);
      const hold = checkout.facilitator.verify.holdNext();
      const paying = sendHeader(checkout, id, slower.header);
      await eventually(() => assert.equal(checkout.calls(slower).verify, 1));
      checkout.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
      assert.equal(answerOf(await checkout.pay(id)), '402 kyt_risk_detected');
      hold.release();
      assert.equal(await paying, '200 complete');
    });
  });

  it('or claims nothing when its database connection is terminated: 503, and the same header pays later', async () => {
    const id = await newId();
    const payment = await checkout.sign(id);
    const { db } = checkout.app;
    const { answer } = await db.transaction(async (trx) => {
      await trx.raw('SELECT id FROM payables WHERE id = ? FOR UPDATE', [id]);
      const paying = sendHeader(checkout, id, payment.header);
      const pid = await eventually(() => findWaitingClaim(db));
      await db.raw('SELECT pg_terminate_backend(?)', [pid]);
      return { answer: paying };
    });
    assert.equal(await answer, '503 payment_service_unavailable');
    // The claim that was ruled out is a failed payment.
    assert.deepEqual(await checkout.state(id), { ...UNTOUCHED, payments: ['failed'] });
    assert.equal(await sendHeader(checkout, id, payment.header), '200 complete');
    assert.deepEqual(checkout.calls(payment), { verify: 2, settle: 1 });
  });

  async function findWaitingClaim(db: Knex): Promise<number> {
    const { rows } = await db.raw(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%WITH claim AS%'`,
    );
    assert.equal(rows.length, 1);
    return rows[0].pid;
  }
});
