import {
  asJson,
  booleanColumn,
  member,
  type Sql,
  secondsColumn,
  sql,
  textColumn,
} from '../../db/json-text.js';
import { REFUND_STATUS_OF, type RefundStatus } from '../../payables/refund-statuses.js';
import { createdMsSql } from '../../values/ids.js';

/** A condition of the payable `session`. */
export const IS_REFUND = 'session.refunded_payment_id IS NOT NULL';

/** A refund whose time is over. */
export function canceledRefundAsJson(): string {
  return refundAsJson(REFUND_STATUS_OF.expired, {
    transaction: null,
    transaction_url: null,
    settled_at: null,
    failure_code: textColumn('session.failure_code'),
  });
}

/** A refund that is paid; `payment` is SQL that gives the JSON of its payment. */
export function succeededRefundAsJson(payment: string): string {
  return refundAsJson(REFUND_STATUS_OF.complete, {
    transaction: member(payment, 'transaction'),
    transaction_url: member(payment, 'transaction_url'),
    settled_at: member(payment, 'settled_at'),
    failure_code: null,
  });
}

type Outcome = Record<'transaction' | 'transaction_url' | 'settled_at' | 'failure_code', Sql | null>;

/**
 * SQL for the text that `presentRefund` returns for the payable `session`, a refund that expired, byte for byte. The statement
 * that expires refunds uses it to write their events.
 */
function refundAsJson(status: RefundStatus, outcome: Outcome): string {
  const term = (name: string) => member('session.refund', name);
  return asJson({
    id: textColumn('session.id'),
    object: 'refund',
    amount: sql('session.amount_total_cents'),
    currency: 'usd',
    payment: textColumn('session.refunded_payment_id'),
    checkout_session: term('checkoutSession'),
    status,
    reason: term('reason'),
    metadata: sql('session.metadata::text'),
    created: sql(`${createdMsSql('session.id', 're_')} / 1000`),
    expires_at: secondsColumn('session.expires_at'),
    livemode: booleanColumn('session.livemode'),
    token: term('token'),
    token_amount: term('tokenAmount'),
    token_decimals: term('tokenDecimals'),
    network: term('network'),
    network_name: term('networkName'),
    pay_to: term('payTo'),
    url: null,
    transaction: outcome.transaction,
    transaction_url: outcome.transaction_url,
    settled_at: outcome.settled_at,
    failure_code: outcome.failure_code,
  });
}
