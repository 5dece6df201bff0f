import { asJson, booleanColumn, member, secondsColumn, sql, textColumn } from '../../db/json-text.js';
import { createdMsSql } from '../../values/ids.js';

/**
 * The text of what `presentRefund` makes of the payable `session`, which is a refund whose time is over, byte for byte:
 * its event is written by the statement that expires it.
 */
export function canceledRefundAsJson(): string {
  const term = (name: string) => member('session.refund', name);
  return asJson({
    id: textColumn('session.id'),
    object: 'refund',
    amount: sql('session.amount_total_cents'),
    currency: 'usd',
    payment: textColumn('session.refunded_payment_id'),
    checkout_session: term('checkoutSession'),
    status: 'canceled',
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
    transaction: null,
    transaction_url: null,
    settled_at: null,
    failure_code: textColumn('session.failure_code'),
  });
}
