import assert from 'node:assert/strict';
import {
  altered,
  type Behaviour,
  breaksAfterWork,
  failsAfterWork,
  settlesAsPending,
} from '../../../lab/world/facilitator/dial.js';
import { resetClock } from '../../../shared/process/clock.js';
import type { Checkout } from '../../support/checkout.js';
import { describeBothKinds } from '../../support/kinds.js';
import {
  assertCompletes,
  openNoWaitCheckout,
  payUnclearly,
  type Undecided,
} from '../../support/unclear-settle.js';

const HASH = `0x${'ab'.repeat(32)}`;

describeBothKinds('an unclear answer of /settle', (kind) => {
  let checkout: Checkout;

  describe('is 202, and then 200 when the chain shows the transfer:', () => {
    /** Each kind of answer has one example; test/unit/x402/settle-answer-unknown.spec.ts has every answer. */
    const WAYS: Record<string, Behaviour> = {
      'the connection was reset': breaksAfterWork('reset'),
      'the answer was cut off': breaksAfterWork('truncate'),
      'HTTP 500 that says failure': altered({ success: false, errorReason: 'insufficient_funds' }, 500),
      'HTTP 400 without a verdict': failsAfterWork(400, { error: 'bad request' }),
      'success without a transaction': altered({ transaction: undefined }),
      'success on another network': altered({ network: 'eip155:8453' }),
      'failure with another transaction': altered({
        success: false,
        errorReason: 'transfer_event_mismatch',
        transaction: HASH,
      }),
      'settlement_pending with the transaction': settlesAsPending(),
      'failure with duplicate_settlement': altered({
        success: false,
        errorReason: 'duplicate_settlement',
        transaction: '',
      }),
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
