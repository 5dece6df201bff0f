import { at, unclearPayment } from './a-payment.js';
import { HASH, hold, unused } from './check-rows.js';

/** The first pause between checks. */
const SOON = at(2000);

hold('the authorization is unused after several unclear calls', [
  ...[10, 20, 40, 80].flatMap((seconds, index) => [
    {
      what: `a millisecond before the pause after call ${index + 2} is over`,
      finding: unused(0),
      payment: unclearPayment({
        settleCalls: index + 2,
        attempt: index + 3,
        settleEndedAt: at(-1000 * seconds + 1),
      }),
      says: ['check_again', SOON],
    },
    {
      what: `after that pause of ${seconds} s`,
      finding: unused(0),
      payment: unclearPayment({ settleCalls: index + 2, settleEndedAt: at(-1000 * seconds) }),
      says: ['settle_again', at(0)],
    },
  ]),
  {
    what: 'while a transaction that was named has half a minute to land, though the pause is over',
    finding: unused(0),
    payment: unclearPayment({
      settleCalls: 2,
      attempt: 3,
      reportedTransaction: HASH,
      settleEndedAt: at(-29_999),
    }),
    says: ['check_again', SOON],
  },
]);
