import { networkName, transactionUrl } from '../chains/networks/networks.js';
import { createdAt } from '../values/ids.js';
import { decimalText, dollarText } from '../values/money.js';
import type { Columns } from '../wire/csv.js';
import { utcText } from '../wire/timestamp.js';
import type { Payment } from './model.js';

/** The payments list for accountants: the field names of the API, amounts in decimals, times in UTC text. */
export const PAYMENT_COLUMNS: Columns<Payment> = [
  ['id', ({ id }) => id],
  ['created', ({ id }) => utcText(createdAt(id))],
  ['settled_at', ({ settledAt }) => settledAt && utcText(settledAt)],
  ['status', ({ status }) => status],
  ['amount', ({ amountCents }) => dollarText(amountCents)],
  ['currency', () => 'usd'],
  ['token', ({ token }) => token],
  ['token_amount', ({ tokenAmount, tokenDecimals }) => decimalText(tokenAmount, tokenDecimals)],
  ['network', ({ network }) => network],
  ['network_name', ({ network }) => networkName(network)],
  ['payer', ({ payer }) => payer],
  ['pay_to', ({ payTo }) => payTo],
  ['channel', ({ channel }) => channel],
  ['transaction', ({ transaction }) => transaction],
  ['transaction_url', ({ network, transaction }) => transaction && transactionUrl(network, transaction)],
  ['checkout_session', ({ payableId }) => payableId],
  ['livemode', ({ livemode }) => livemode],
  // `failed` alone would not tell whether its money may have moved.
  ['failure_code', ({ status, failureCode }) => (status === 'failed' ? failureCode : null)],
];
