import assert from 'node:assert/strict';
import { nowMs, returnToPresent, travelMs } from '../../shared/clock.js';
import type { CheckoutSession } from '../../shared/models/checkout-session.js';
import {
  BUYER,
  type Checkout,
  openCheckout,
  openCheckoutOnChain,
  receiptOf,
  type SignedPayment,
  type Signing,
  told,
} from '../support/checkout.js';
import { eventually } from '../support/eventually.js';
import type { EvmChain } from '../support/evm-chain.js';
import {
  altered,
  answers,
  answersHtml,
  type Behaviour,
  breaksAfterWork,
  breaksBeforeWork,
  failsAfterWork,
  failsToSettle,
  settlesAsPending,
} from '../support/facilitator-dial.js';
import { FAILURE_CODES } from '../support/failure-codes.js';

const HASH = `0x${'ab'.repeat(32)}`;
const PAID = { session: 'complete', payments: ['succeeded'], events: ['checkout.session.completed'] };
const PROCESSING = { session: 'processing', payments: ['processing'], events: [] };
const FAILED = { session: 'open', payments: ['failed'], events: [] };
/** Nothing is done, and nobody is told what happened. */
const BREAKS = answersHtml(503);

/** The tries of /settle after the first, without the pauses between them. */
async function hurry(checkout: Checkout, id: string, tries: number): Promise<void> {
  for (let tried = 1; tried < tries; tried += 1) {
    await eventually(async () => {
      const { settleCalls, settleEndedAt } = await checkout.payment(id);
      assert.equal(settleCalls === tried && settleEndedAt !== null, true);
    });
    travelMs(2000);
    await checkout.ring(id);
  }
}

describe('a clear answer of /settle', () => {
  let checkout: Checkout;
  let session: CheckoutSession;
  before(async () => {
    checkout = await openCheckout();
  });
  beforeEach(async () => {
    session = await checkout.buildSession();
  });
  afterEach(() => checkout.facilitator.settle.honest());
  after(() => checkout.close());

  describe('completes the session:', () => {
    for (const [title, behaviour] of Object.entries<Behaviour>({
      'with everything in it': {},
      'with no payer': altered({ payer: undefined }),
      'with null for the payer': altered({ payer: null }),
      'with an empty payer': altered({ payer: '' }),
      'with no network': altered({ network: undefined }),
      'with null for the network': altered({ network: null }),
      'with an empty network': altered({ network: '' }),
      'with the network’s name in version 1': altered({ network: 'base-sepolia' }),
      'with fields that nobody knows': altered({ extensions: {}, amount: '1', errorReason: null }),
      'with another status of success': altered({}, 201),
      'with a status of refusal': altered({}, 402),
    })) {
      it(title, async () => {
        checkout.facilitator.settle.next(behaviour);
        const payment = await checkout.sign(session.id);
        const res = await checkout.visit(session.id, { 'PAYMENT-SIGNATURE': payment.header });
        assert.equal(told(res), '200 complete');
        assert.deepEqual(receiptOf(res), {
          success: true,
          transaction: checkout.facilitator.ledger.at(-1)?.transaction,
          network: 'eip155:84532',
          payer: BUYER.address,
        });
        assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
        assert.deepEqual(await checkout.state(session.id), PAID);
      });
    }

    it('with any transaction that is no empty text', async () => {
      for (const transaction of ['x', 'pending-0001', `0x${'AB'.repeat(32)}`, 'é', '1'.repeat(400)]) {
        checkout.facilitator.settle.next(altered({ transaction }));
        const { id } = await checkout.buildSession();
        const res = await checkout.pay(id);
        assert.equal(told(res), '200 complete');
        assert.equal(receiptOf(res)?.transaction, transaction);
        assert.equal(res.body.session.payment.transaction, transaction);
      }
    });
  });

  describe('fails the payment, at once, with', () => {
    async function assertFails(behaviour: Behaviour, code: string): Promise<void> {
      const { id } = await checkout.buildSession();
      checkout.facilitator.settle.next(behaviour);
      const payment = await checkout.sign(id);
      const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(told(res), `402 ${code}`);
      assert.deepEqual(receiptOf(res), {
        success: false,
        errorReason: code,
        transaction: '',
        network: 'eip155:84532',
        payer: BUYER.address,
      });
      assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
      assert.deepEqual(await checkout.state(id), FAILED);
      const [failed] = await checkout.payments(id);
      assert.equal(failed?.failureCode, code);
      // It was told to who paid, not to who asks next.
      assert.equal(told(await checkout.visit(id)), '402');
    }

    for (const code of FAILURE_CODES) it(code, () => assertFails(failsToSettle(code), code));

    it('the specification’s word for what newer facilitators say', async () => {
      await assertFails(failsToSettle('invalid_exact_evm_insufficient_balance'), 'insufficient_funds');
      await assertFails(failsToSettle('invalid_exact_evm_signature'), 'invalid_exact_evm_payload_signature');
    });

    it('a word that nobody knows, or payment_failed for what is no word', async () => {
      await assertFails(failsToSettle('kyt_sanctioned_address'), 'kyt_sanctioned_address');
      await assertFails(failsToSettle('Something Failed!'), 'payment_failed');
      await assertFails(answers(200, { success: false, transaction: '' }), 'payment_failed');
    });

    it('no transaction at all, or null for it', async () => {
      for (const transaction of [undefined, null]) {
        const body = { success: false, errorReason: 'insufficient_funds', transaction };
        await assertFails(answers(200, body), 'insufficient_funds');
      }
    });

    it('a status of refusal', async () => {
      for (const status of [400, 402, 404, 409, 422]) {
        const body = { success: false, errorReason: 'insufficient_funds', transaction: '', network: '' };
        await assertFails(answers(status, body), 'insufficient_funds');
      }
    });
  });
});

describe('an unclear answer of /settle', () => {
  let checkout: Checkout & { chain: EvmChain };
  let chain: EvmChain;

  async function open(): Promise<void> {
    checkout = await openCheckoutOnChain({ SETTLE_WAIT_MS: '0' });
    chain = checkout.chain;
  }

  interface Undecided {
    id: string;
    payment: SignedPayment;
  }

  /** Paid, answered 202, and the first call of /settle has ended. */
  async function payUnclearly(behaviour: Behaviour, parts?: Signing): Promise<Undecided> {
    const { id } = await checkout.buildSession({ expiresAt: new Date(nowMs() + 86_400_000) });
    const payment = await checkout.sign(id, parts);
    checkout.facilitator.settle.next(behaviour);
    const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
    assert.equal(told(res), '202 processing');
    await checkout.afterSettling(id);
    return { id, payment };
  }

  /** A block that is later than everything that has happened. */
  function passBlock(): void {
    chain.travel(2);
    chain.mine();
  }

  async function assertCompletes({ id, payment }: Undecided): Promise<void> {
    await checkout.becomes(id, PAID);
    const res = await checkout.visit(id);
    assert.equal(told(res), '200 complete');
    const nonce = payment.payload.authorization.nonce;
    const moved = checkout.facilitator.ledger.filter(({ paymentId }) => paymentId === nonce);
    assert.equal(moved.length, 1);
    assert.equal(receiptOf(res)?.transaction, moved[0]?.transaction);
    assert.equal(receiptOf(res)?.payer, BUYER.address);
  }

  describe('is 202, and then 200 when the chain shows the money:', () => {
    const WAYS: Record<string, Behaviour> = {
      'the connection was reset': breaksAfterWork('reset'),
      'the connection was dropped': breaksAfterWork('drop'),
      'the answer ended in its midst': breaksAfterWork('truncate'),
      'HTTP 500': failsAfterWork(500),
      'HTTP 503 in HTML': failsAfterWork(503, '<html>'),
      'HTTP 500 that says success': altered({}, 500),
      'HTTP 500 that says failure': altered({ success: false, errorReason: 'insufficient_funds' }, 500),
      'a redirection': failsAfterWork(308, ''),
      'HTTP 400 without a verdict': failsAfterWork(400, { error: 'bad request' }),
      'HTTP 404': failsAfterWork(404, 'not found'),
      'no JSON': failsAfterWork(200, 'ok'),
      'half of its JSON': failsAfterWork(200, '{"success": tru'),
      'no JSON object': failsAfterWork(200, [{ success: true, transaction: HASH }]),
      'no verdict': failsAfterWork(200, { transaction: HASH }),
      'a verdict in words': altered({ success: 'true' }),
      'success without a transaction': altered({ transaction: undefined }),
      'success with an empty transaction': altered({ transaction: '' }),
      'success with null for the transaction': altered({ transaction: null }),
      'success with a number for the transaction': altered({ transaction: 7 }),
      'success on another network': altered({ network: 'eip155:8453' }),
      'failure on another network': altered({
        success: false,
        errorReason: 'insufficient_funds',
        transaction: '',
        network: 'base',
      }),
      'failure with a transaction': altered({ success: false, errorReason: 'insufficient_funds' }),
      'failure with another transaction': altered({
        success: false,
        errorReason: 'transfer_event_mismatch',
        transaction: HASH,
      }),
      'settlement_pending with the transaction': settlesAsPending(),
      ...Object.fromEntries(
        [
          'settlement_pending',
          'duplicate_settlement',
          'invalid_exact_evm_nonce_already_used',
          'invalid_exact_evm_transaction_failed',
          'transaction_failed',
          'settle_exact_svm_transaction_confirmation_timed_out',
          'post_settlement_transfer_not_confirmed',
        ].map((errorReason) => [
          `failure with ${errorReason}`,
          altered({ success: false, errorReason, transaction: '' }),
        ]),
      ),
    };
    const undecided = new Map<string, Undecided>();
    afterEach(returnToPresent);
    after(() => checkout.close());

    /** All at first, so that their looks at the chain come at the same time. */
    before(async () => {
      await open();
      for (const [title, behaviour] of Object.entries(WAYS)) {
        undecided.set(title, await payUnclearly(behaviour));
      }
    });

    for (const title of Object.keys(WAYS)) {
      it(title, async () => {
        const one = undecided.get(title);
        assert.ok(one);
        await assertCompletes(one);
        assert.deepEqual(checkout.calls(one.payment), { verify: 1, settle: 1 });
        assert.notEqual((await checkout.payment(one.id)).proofIndex, null);
      });
    }
  });

  describe('afterwards', () => {
    // Each on a chain of its own: blocks do not travel back.
    beforeEach(open);
    afterEach(async () => {
      returnToPresent();
      await checkout.close();
    });

    it('keeps the session: 202 to a GET, 409 to a payment, the signature used', async () => {
      const undecided = await payUnclearly(failsAfterWork(500));
      chain.endpoint.fail('hang');
      assert.equal(told(await checkout.visit(undecided.id)), '202 processing');
      const { header } = undecided.payment;
      const again = await checkout.visit(undecided.id, { 'PAYMENT-SIGNATURE': header });
      assert.equal(told(again), '409 processing');
      const { id } = await checkout.buildSession();
      const elsewhere = await checkout.visit(id, { 'PAYMENT-SIGNATURE': header });
      assert.equal(told(elsewhere), '409 signature_already_used');
      assert.deepEqual(await checkout.state(undecided.id), PROCESSING);
      chain.endpoint.recover();
      travelMs(60_000);
      await assertCompletes(undecided);
    });

    it('does not believe a transaction that moved another payment’s money', async () => {
      const first = await payUnclearly(failsAfterWork(500));
      await assertCompletes(first);
      const transaction = checkout.facilitator.ledger.at(-1)?.transaction ?? '';
      const second = await payUnclearly(failsToSettle('settlement_pending', transaction));
      passBlock();
      await checkout.afterAnotherLook(second.id);
      assert.deepEqual(await checkout.state(second.id), PROCESSING);
      travelMs(31_000);
      passBlock();
      await assertCompletes(second);
      assert.deepEqual(checkout.calls(second.payment), { verify: 1, settle: 2 });
    });

    describe('is settled again when the chain says that nothing has moved,', () => {
      it('after HTTP 503', async () => {
        const undecided = await payUnclearly(BREAKS);
        passBlock();
        await assertCompletes(undecided);
        assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 2 });
      });

      for (const [title, behaviour] of Object.entries<Behaviour>({
        'after a connection that broke': breaksBeforeWork(),
        'after a gateway that gave up': answersHtml(504),
      })) {
        it(`${title}, when the facilitator surely is no longer at it`, async () => {
          const undecided = await payUnclearly(behaviour);
          passBlock();
          await checkout.afterAnotherLook(undecided.id);
          assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 1 });
          travelMs(61_000);
          passBlock();
          await assertCompletes(undecided);
          assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 2 });
        });
      }

      it('but only in a block that is later than the end of the call', async () => {
        const undecided = await payUnclearly(BREAKS);
        await checkout.afterAnotherLook(undecided.id);
        assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 1 });
        passBlock();
        travelMs(5_000);
        await assertCompletes(undecided);
        assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 2 });
      });

      for (const [title, no] of Object.entries<Behaviour>({
        insufficient_funds: failsToSettle('insufficient_funds'),
        'HTTP 401': answers(401),
      })) {
        it(`and ${title} to that proves nothing: 202 until the authorization is over`, async () => {
          const { id, payment } = await payUnclearly(BREAKS);
          checkout.facilitator.settle.always(no);
          passBlock();
          await eventually(async () => {
            const { settleCalls, settleEndedAt } = await checkout.payment(id);
            assert.equal(settleCalls >= 2 && settleEndedAt !== null, true);
          });
          assert.deepEqual(await checkout.state(id), PROCESSING);
          travelMs(305_000);
          chain.mine();
          await checkout.becomes(id, FAILED);
          assert.equal(told(await checkout.visit(id)), '402 unexpected_settle_error');
          assert.ok(checkout.calls(payment).settle <= 6);
        });
      }
    });

    it('that named a transaction gives it half a minute to land before it is settled again', async () => {
      const undecided = await payUnclearly(failsToSettle('settlement_pending', HASH));
      passBlock();
      await checkout.afterAnotherLook(undecided.id);
      assert.equal(checkout.calls(undecided.payment).settle, 1);
      travelMs(31_000);
      passBlock();
      await assertCompletes(undecided);
      assert.equal(checkout.calls(undecided.payment).settle, 2);
    });

    describe('is decided by the end of the authorization:', () => {
      it('not before a block is later than it, then failed, and told', async () => {
        const { id } = await payUnclearly(failsToSettle('settlement_pending', HASH));
        await checkout.afterAnotherLook(id, 296, () => chain.mine());
        assert.deepEqual(await checkout.state(id), PROCESSING);
        // Our clock is past it; the newest block is not.
        await checkout.afterAnotherLook(id, 30);
        assert.deepEqual(await checkout.state(id), PROCESSING);
        chain.mine();
        travelMs(31_000);
        await checkout.becomes(id, FAILED);
        assert.equal(told(await checkout.visit(id)), '402 unexpected_settle_error');
        assert.equal(told(await checkout.pay(id)), '202 processing');
        await eventually(async () => assert.equal((await checkout.session(id)).status, 'complete'));
      });

      it('failed at once when the payer has cancelled it', async () => {
        const { id, payment } = await payUnclearly(failsToSettle('settlement_pending', HASH));
        const { from, nonce } = payment.payload.authorization;
        chain.cancelAuthorization({ asset: payment.accepted.asset, from, nonce });
        await checkout.becomes(id, FAILED);
        assert.equal(told(await checkout.visit(id)), '402 invalid_transaction_state');
      });

      it('or, when that is far away, by two looks a quarter of an hour later, and watched on', async () => {
        const validBefore = BigInt(Math.floor(nowMs() / 1000) + 3600);
        const { id } = await payUnclearly(failsToSettle('settlement_pending', HASH), { validBefore });
        const first = await checkout.afterAnotherLook(id, 901, () => chain.mine());
        assert.notEqual(first.unusedSeenAt, null);
        assert.deepEqual(await checkout.state(id), PROCESSING);
        travelMs(16_000);
        chain.mine();
        await checkout.becomes(id, FAILED);
        assert.equal((await checkout.payment(id)).stage, 'watch');
        assert.equal(told(await checkout.visit(id)), '402 unexpected_settle_error');
      });
    });

    describe('while the chain cannot be read', () => {
      beforeEach(() => chain.endpoint.fail('http_500'));

      it('is settled again when /verify says that nothing has moved', async () => {
        const undecided = await payUnclearly(BREAKS);
        await checkout.becomes(undecided.id, PAID);
        assert.deepEqual(checkout.calls(undecided.payment), { verify: 2, settle: 2 });
      });

      it('is not settled again when /verify does not say so', async () => {
        checkout.facilitator.verify.next({}, answers(500));
        const { id, payment } = await payUnclearly(failsAfterWork(500));
        await checkout.afterAnotherLook(id);
        assert.deepEqual(checkout.calls(payment), { verify: 2, settle: 1 });
        await checkout.afterAnotherLook(id, 5);
        assert.deepEqual(checkout.calls(payment), { verify: 3, settle: 1 });
        assert.deepEqual(await checkout.state(id), PROCESSING);
        chain.endpoint.recover();
        travelMs(10_000);
        await checkout.becomes(id, PAID);
      });

      it('is decided a minute after the authorization’s end; money that is seen later completes the session', async () => {
        const { id } = await payUnclearly(failsAfterWork(500));
        await checkout.afterAnotherLook(id, 299);
        assert.deepEqual(await checkout.state(id), PROCESSING);
        assert.equal(told(await checkout.visit(id)), '202 processing');
        await checkout.afterAnotherLook(id, 31);
        assert.deepEqual(await checkout.state(id), PROCESSING);
        travelMs(31_000);
        await checkout.becomes(id, FAILED);
        assert.equal(told(await checkout.visit(id)), '402 unexpected_settle_error');
        chain.endpoint.recover();
        travelMs(3_601_000);
        await checkout.becomes(id, PAID);
        assert.equal(told(await checkout.visit(id)), '200 complete');
      });

      it('is not decided by one bad moment of the endpoint, though nobody had looked until long after its end', async () => {
        const { id } = await payUnclearly(failsAfterWork(500));
        await checkout.afterAnotherLook(id, 600);
        assert.deepEqual(await checkout.state(id), PROCESSING);
        chain.endpoint.recover();
        travelMs(31_000);
        await checkout.becomes(id, PAID);
      });

      it('nor by two, when it could be read in between', async () => {
        const { id } = await payUnclearly(failsAfterWork(500));
        assert.notEqual((await checkout.afterAnotherLook(id, 200)).unreadableSince, null);
        chain.endpoint.recover();
        // A node that does not know the transfer yet.
        Object.assign(chain, { hidesLogs: true, authorizationStateLie: false });
        const read = await checkout.afterAnotherLook(id, 92, () => chain.mine());
        assert.equal(read.unreadableSince, null);
        Object.assign(chain, { hidesLogs: false, authorizationStateLie: undefined });
        chain.endpoint.fail('http_500');
        await checkout.afterAnotherLook(id, 300);
        assert.deepEqual(await checkout.state(id), PROCESSING);
      });

      it('is decided after a quarter of an hour when its end is far away', async () => {
        const validBefore = BigInt(Math.floor(nowMs() / 1000) + 7200);
        const { id } = await payUnclearly(failsAfterWork(500), { validBefore });
        for (const seconds of [840, 31]) {
          await checkout.afterAnotherLook(id, seconds);
          assert.deepEqual(await checkout.state(id), PROCESSING);
        }
        travelMs(31_000);
        await checkout.becomes(id, FAILED);
        assert.equal((await checkout.payment(id)).stage, 'watch');
      });
    });
  });
});

describe('a call of /settle that does not end in time', () => {
  let checkout: Checkout & { chain: EvmChain };
  before(async () => {
    checkout = await openCheckoutOnChain({ SETTLE_WAIT_MS: '0', FACILITATOR_SETTLE_TIMEOUT_MS: '300' });
  });
  afterEach(returnToPresent);
  after(() => checkout.close());

  it('is 202, then 200 when it is through all the same', async () => {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id);
    const hold = checkout.facilitator.settle.holdNext();
    const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
    assert.equal(told(res), '202 processing');
    await checkout.afterSettling(id);
    hold.release();
    await checkout.becomes(id, PAID);
    assert.equal(told(await checkout.visit(id)), '200 complete');
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
  });

  it('is not repeated while it may still be carried out: not before its timeout and half a minute', async () => {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id);
    const hold = checkout.facilitator.settle.holdNext();
    await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
    await checkout.afterSettling(id);
    checkout.chain.travel(2);
    checkout.chain.mine();
    const { stage } = await checkout.afterAnotherLook(id);
    hold.release();
    await checkout.becomes(id, PAID);
    assert.equal(stage, 'confirm');
    assert.equal(checkout.calls(payment).settle, 1);
  });
});

describe('a call of /settle that was surely not processed', () => {
  let checkout: Checkout;
  before(async () => {
    checkout = await openCheckout();
  });
  afterEach(() => {
    returnToPresent();
    checkout.facilitator.settle.honest();
  });
  after(() => checkout.close());

  const send = (id: string, header: string): Promise<string> =>
    checkout.visit(id, { 'PAYMENT-SIGNATURE': header }).then(told);

  it('is repeated', async () => {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id);
    checkout.facilitator.settle.next(answers(401));
    const [answer] = await Promise.all([send(id, payment.header), hurry(checkout, id, 2)]);
    assert.equal(answer, '200 complete');
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 2 });
    assert.deepEqual(await checkout.state(id), PAID);
  });

  it('three times (401, 403, 429), then 503; the same payload may claim the same session again, and no other', async () => {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id);
    checkout.facilitator.settle.next(answers(401), answers(403), answers(429));
    const [answer] = await Promise.all([send(id, payment.header), hurry(checkout, id, 3)]);
    assert.equal(answer, '503 payment_service_unavailable');
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 3 });
    assert.deepEqual(await checkout.state(id), FAILED);
    assert.equal(told(await checkout.visit(id)), '402');

    const { id: other } = await checkout.buildSession();
    assert.equal(await send(other, payment.header), '409 signature_already_used');
    assert.equal(await send(id, payment.header), '200 complete');
    assert.deepEqual(checkout.calls(payment), { verify: 2, settle: 4 });
    assert.deepEqual(await checkout.state(id), {
      session: 'complete',
      payments: ['failed', 'succeeded'],
      events: ['checkout.session.completed'],
    });
    assert.equal(await send(id, payment.header), '409 session_already_paid');
    assert.equal(await send(other, payment.header), '409 signature_already_used');
  });

  it('is not repeated in the last ten seconds of the authorization', async () => {
    const { id } = await checkout.buildSession();
    const validBefore = BigInt(Math.floor(nowMs() / 1000) + 9);
    const payment = await checkout.sign(id, { validBefore });
    checkout.facilitator.settle.always(answers(401));
    assert.equal(await send(id, payment.header), '503 payment_service_unavailable');
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
  });

  it('is not repeated in them by a worker that comes late, either', async () => {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id);
    checkout.facilitator.settle.always(answers(401));
    const paying = send(id, payment.header);
    await checkout.afterSettling(id);
    travelMs(293_000);
    await checkout.ring(id);
    assert.equal(await paying, '503 payment_service_unavailable');
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
  });
});

describe('a facilitator that cannot be reached to settle', () => {
  afterEach(returnToPresent);

  for (const [title, url] of [
    ['because the connection is refused', 'http://127.0.0.1:1'],
    ['because its name does not resolve', 'http://facilitator.invalid'],
  ] as const) {
    it(`${title}: 503 after three tries, and the same payload may claim the session again`, async () => {
      const checkout = await openCheckout({ worker: false });
      const cutOff = await checkout.startWorker({ FACILITATOR_URL: url });
      const { id } = await checkout.buildSession();
      const { header } = await checkout.sign(id);
      const headers = { 'PAYMENT-SIGNATURE': header };
      const paying = checkout.visit(id, headers).then(told);
      await hurry(checkout, id, 3);
      assert.equal(await paying, '503 payment_service_unavailable');
      assert.deepEqual(await checkout.state(id), FAILED);
      assert.equal((await checkout.payment(id)).settleCalls, 3);
      await cutOff.close();
      await checkout.startWorker();
      assert.equal(told(await checkout.visit(id, headers)), '200 complete');
      await checkout.close();
    });
  }
});
