import { readConfig } from '../shared/config.js';
import type { Resolution } from '../shared/domain/payment-policy/by-operator.js';
import { createLogger } from '../shared/logger.js';
import { presentOperatorPayment } from '../shared/presenters/operator-payment.js';
import { presentRefund } from '../shared/presenters/refund.js';
import { decisionBell } from '../shared/queues/decision-bell.js';
import { leaveToSweep } from '../shared/queues/ring-deliveries.js';
import { getPayment, listUndecidedPayments, resolvePayment } from '../shared/services/payments/resolve.js';
import { refundsOf } from '../shared/services/refunds/read.js';
import { type Command, subjectOf } from './command.js';
import { UsageError } from './parse-command-line.js';

/** What an operator can see and decide of payments. */
export const PAYMENT_COMMANDS: Readonly<Record<string, Command>> = {
  payments: {
    usage: '--undecided',
    options: [],
    flags: ['undecided'],
    required: ['undecided'],
    async run(db) {
      return { payments: (await listUndecidedPayments(db)).map(presentOperatorPayment) };
    },
  },
  'show-payment': {
    usage: '<pay_…>',
    subject: 'payment',
    options: [],
    required: [],
    async run(db, input) {
      const payment = await getPayment(db, subjectOf(input, 'payment'));
      const refunds = await refundsOf(db, payment.id);
      const baseUrl = ownBaseUrl();
      return {
        ...presentOperatorPayment(payment),
        refunds: refunds.map((refund) => presentRefund(refund, baseUrl)),
      };
    },
  },
  'resolve-payment': {
    usage: '<pay_…> --paid <transaction> | --failed --reason R',
    subject: 'payment',
    options: ['paid', 'reason'],
    flags: ['failed'],
    required: [],
    changes: 'at once',
    async run(db, input) {
      const resolution = readResolution(input);
      // The lines go to standard error: standard output is the answer's.
      const logger = createLogger('warn', 'cli', process.stderr);
      const baseUrl = ownBaseUrl();
      return presentOperatorPayment(
        await resolvePayment(
          { db, logger, baseUrl, ringDeliveries: leaveToSweep, ringDecided: decisionBell(undefined) },
          subjectOf(input, 'payment'),
          resolution,
        ),
      );
    },
  },
};

function ownBaseUrl(): string {
  return readConfig('cli', { DATABASE_URL: 'postgres://unused' }).baseUrl;
}

function readResolution({ paid, failed, reason }: Record<string, string | undefined>): Resolution {
  if ((paid === undefined) === (failed === undefined)) {
    throw new UsageError('Say --paid <transaction>, or --failed --reason R.');
  }
  if (paid !== undefined) {
    if (/^[A-Za-z0-9]{1,200}$/.test(paid)) return { kind: 'paid', transaction: paid };
    throw new UsageError('--paid must be the transaction: letters and digits.');
  }
  if (reason !== undefined && /^[a-z0-9_]{1,100}$/.test(reason)) return { kind: 'failed', reason };
  throw new UsageError('--reason must be 1 to 100 of a to z, 0 to 9 and _.');
}
