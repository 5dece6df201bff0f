import { at, times, unclearPayment } from './a-payment.js';
import { FAR, HASH, HOUR, hold, MINUTE, unused } from './check-rows.js';

/** The first pause between checks. */
const SOON = at(2000);

hold('the authorization is unused', [
  { what: 'in a block as old as the call', finding: unused(-1000), says: ['check_again', SOON] },
  { what: 'in a later block', finding: unused(-999), says: ['settle_again', at(0)] },
  {
    what: 'in a block of before the surely last moment of a call that never ended',
    finding: unused(118_500),
    payment: unclearPayment({ settleEndedAt: null }),
    says: ['check_again', SOON],
  },
  {
    what: 'in a block after that',
    finding: unused(118_501),
    payment: unclearPayment({ settleEndedAt: null }),
    says: ['settle_again', at(0)],
  },
  {
    what: 'while a transaction that was named has half a minute to land',
    finding: unused(0),
    payment: unclearPayment({ reportedTransaction: HASH, settleEndedAt: at(-29_999) }),
    says: ['check_again', SOON],
  },
  {
    what: 'half a minute after a transaction was named',
    finding: unused(0),
    payment: unclearPayment({ reportedTransaction: HASH, settleEndedAt: at(-30_000) }),
    says: ['settle_again', at(0)],
  },
  {
    what: 'after the sixth call',
    finding: unused(0),
    payment: unclearPayment({ settleCalls: 6, attempt: 7 }),
    says: ['check_again', SOON],
  },
  {
    what: 'ten seconds before its end',
    finding: unused(0),
    payment: unclearPayment({ validUntil: at(10_000) }),
    says: ['settle_again', at(0)],
  },
  {
    what: 'a millisecond later',
    finding: unused(0),
    payment: unclearPayment({ validUntil: at(9999) }),
    says: ['check_again', SOON],
  },
  {
    what: 'and can never be used',
    finding: unused(0, true),
    says: ['fail', 'unexpected_settle_error', at(2 * MINUTE)],
  },
]);

hold('the authorization is unused, and its end is far ahead', [
  {
    what: 'a moment before a quarter of an hour is over',
    finding: unused(0),
    payment: unclearPayment({ ...FAR, settleEndedAt: at(-15 * MINUTE + 1) }),
    says: ['settle_again', at(0)],
  },
  {
    what: 'the first of two checks',
    finding: unused(0),
    payment: unclearPayment(FAR),
    says: ['check_again', at(15_000)],
  },
  {
    what: 'a second check too soon',
    finding: unused(0),
    payment: unclearPayment({ ...FAR, unusedSeenAt: at(-14_999) }),
    says: ['check_again', at(1)],
  },
  {
    what: 'the second check',
    finding: unused(0),
    payment: unclearPayment({ ...FAR, unusedSeenAt: at(-15_000) }),
    says: ['fail', 'outcome_unknown', at(HOUR)],
  },
  {
    what: 'a second check whose time has come by one of two clocks',
    finding: unused(0),
    payment: unclearPayment({ ...FAR, settleEndedAt: at(-HOUR), unusedSeenAt: at(-15_000) }),
    times: times(0, -1),
    says: ['check_again', SOON],
  },
  {
    what: 'the first check of a chain on which a quarter of an hour is not over',
    finding: unused(-1),
    payment: unclearPayment({ ...FAR, settleCalls: 6, attempt: 7 }),
    says: ['check_again', SOON],
  },
  {
    what: 'a second check that sees a block that is not later than the first check',
    finding: unused(-20_000),
    payment: unclearPayment({ ...FAR, settleEndedAt: at(-HOUR), unusedSeenAt: at(-20_000) }),
    says: ['check_again', SOON],
  },
]);

hold('an earlier check saw the authorization used, and it is unused', [
  {
    what: 'in a block that is not later, after a refusal',
    finding: unused(-500),
    payment: unclearPayment({ usedSeenAt: at(-500), failureCode: 'insufficient_funds' }),
    says: ['check_again', SOON],
  },
  {
    what: 'in a block that is not later, for good',
    finding: unused(-500, true),
    payment: unclearPayment({ usedSeenAt: at(-500) }),
    says: ['check_again', SOON],
  },
  {
    what: 'in a later block',
    finding: unused(-499),
    payment: unclearPayment({ usedSeenAt: at(-500) }),
    says: ['settle_again', at(0)],
  },
]);
