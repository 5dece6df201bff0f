import { getAnyPayment, listUndecidedPayments } from '../shared/payments/find.js';
import { presentOperatorPayment } from '../shared/payments/present-operator.js';
import { presentRefund } from '../shared/refunds/present.js';
import { refundsOf } from '../shared/refunds/read.js';
import { reconcileRestore } from '../shared/settlement/reconcile-restore.js';
import { type Command, subjectOf } from './command.js';
import { linkBaseUrl } from './link-base-url.js';

/** The command runs after a restore of the database, before workers start. */
const RECONCILE_RESTORE: Command = {
  usage: '',
  changes: 'at once',
  async run(db) {
    const payments = await reconcileRestore(db);
    return { payments: payments.map(({ id, sessionId }) => ({ id, checkout_session: sessionId })) };
  },
};

export const PAYMENT_COMMANDS: Readonly<Record<string, Command>> = {
  payments: {
    usage: '--undecided',
    flags: ['undecided'],
    required: ['undecided'],
    async run(db) {
      return { payments: (await listUndecidedPayments(db)).map(presentOperatorPayment) };
    },
  },
  'reconcile-restore': RECONCILE_RESTORE,
  'show-payment': {
    usage: '<pay_…>',
    subject: 'payment',
    async run(db, input, _audit, context) {
      const payment = await getAnyPayment(db, subjectOf(input, 'payment'));
      const refunds = await refundsOf(db, payment.id);
      const baseUrl = linkBaseUrl(context);
      return {
        ...presentOperatorPayment(payment),
        refunds: refunds.map((refund) => presentRefund(refund, baseUrl)),
      };
    },
  },
  'resolve-payment': {
    usage:
      '<pay_…> --paid <transaction> [--even-if-not-seen] | --failed --reason R [--even-if-it-can-still-arrive]',
    subject: 'payment',
    options: ['paid', 'reason'],
    flags: ['failed', 'even-if-it-can-still-arrive', 'even-if-not-seen'],
    changes: 'at once',
    async run(db, input, _audit, context) {
      // This import loads the chains' libraries.
      const { resolveByOperator } = await import('./resolve-by-operator.js');
      return await resolveByOperator(db, input, context);
    },
  },
};
