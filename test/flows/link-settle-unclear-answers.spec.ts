import assert from 'node:assert/strict';
import {
  altered,
  type Behaviour,
  breaksAfterWork,
  failsAfterWork,
  settlesAsPending,
} from '../../lab/world/facilitator/dial.js';
import { resetClock } from '../../shared/process/clock.js';
import type { Checkout } from '../support/checkout.js';
import { describeBothKinds } from '../support/kinds.js';
import {
  assertCompletes,
  openNoWaitCheckout,
  payUnclearly,
  type Undecided,
} from '../support/unclear-settle.js';

const HASH = `0x${'ab'.repeat(32)}`;

describeBothKinds('an unclear answer of /settle', (kind) => {
  let checkout: Checkout;

  describe('is 202, and then 200 when the chain shows the transfer:', () => {
    const WAYS: Record<string, Behaviour> = {
      'the connection was reset': breaksAfterWork('reset'),
      'the connection was dropped': breaksAfterWork('drop'),
      'the answer was cut off': breaksAfterWork('truncate'),
      'HTTP 500': failsAfterWork(500),
      'HTTP 503 in HTML': failsAfterWork(503, '<html>'),
      'HTTP 500 that says success': altered({}, 500),
      'HTTP 500 that says failure': altered({ success: false, errorReason: 'insufficient_funds' }, 500),
      'a redirection': failsAfterWork(308, ''),
      'HTTP 400 without a verdict': failsAfterWork(400, { error: 'bad request' }),
      'HTTP 404': failsAfterWork(404, 'not found'),
      'no JSON body': failsAfterWork(200, 'ok'),
      'half of the JSON': failsAfterWork(200, '{"success": tru'),
      'a JSON list': failsAfterWork(200, [{ success: true, transaction: HASH }]),
      'no verdict': failsAfterWork(200, { transaction: HASH }),
      'a verdict that is a string': altered({ success: 'true' }),
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
    afterEach(resetClock);
    after(() => checkout.close());

    /** All payments are made first, so that their checks of the chain are due at the same time. */
    before(async () => {
      checkout = await openNoWaitCheckout(kind);
      for (const [title, behaviour] of Object.entries(WAYS)) {
        undecided.set(title, await payUnclearly(checkout, behaviour));
      }
    });

    for (const title of Object.keys(WAYS)) {
      it(title, async () => {
        const one = undecided.get(title);
        assert.ok(one);
        await assertCompletes(checkout, one);
        assert.deepEqual(checkout.calls(one.payment), { verify: 1, settle: 1 });
        assert.notEqual((await checkout.payment(one.id)).proofIndex, null);
      });
    }
  });
});
