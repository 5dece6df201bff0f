import type { Arrival } from '../chains/check/arrival.js';
import { findToken } from '../chains/networks/networks.js';
import { isRefundId } from '../values/ids.js';
import { decimalText } from '../values/money.js';
import { utcText } from '../wire/timestamp.js';

/**
 * One line of the report. `matched`: a succeeded payment with this transaction and amount. `unrecorded`: money that
 * arrived and that no payment has. `missing`: a succeeded payment whose transfer the chain does not show. `different`: the
 * amount, the token, the receiver or the transaction differs.
 */
export const LINE_STATUSES = ['matched', 'unrecorded', 'missing', 'different'] as const;
export type LineStatus = (typeof LINE_STATUSES)[number];

export type Difference = 'amount' | 'token' | 'receiver' | 'transaction';

/** Why an unrecorded transfer was not, or cannot be, recorded, or why a missing one may be there all the same. */
type Obstacle =
  /** The transfer carries no reference, and no payment has its signature. */
  | 'no_reference'
  /** Postgres has no such session: it was restored from a copy without it. */
  | 'session_gone'
  /** The payment is archived. */
  | 'payment_archived'
  /** The chain does not prove the transfer again. */
  | 'not_proven'
  /** The transfer is the proof of another payment. */
  | 'proof_taken'
  /** The endpoint's newest block is not surely later than the payment. */
  | 'endpoint_behind';

export interface Line {
  status: LineStatus;
  network: string;
  asset: string;
  transaction: string | null;
  /** Amount in the token's smallest unit. */
  amount: bigint;
  payer: string | null;
  payTo: string;
  /** When the money arrived; of a missing payment, when it was claimed. */
  at: Date | null;
  /** The session or refund that the payment or the reference names. */
  payableId: string | undefined;
  paymentId: string | undefined;
  accountId: string | undefined;
  differs?: readonly Difference[];
  obstacle?: Obstacle;
  /** The transfer was unrecorded and is recorded now. */
  repaired?: true;
}

export function lineOf(arrival: Arrival, rest: Partial<Line> & Pick<Line, 'status'>): Line {
  const { network, asset, transaction, amount, payer, payTo } = arrival;
  const at = arrival.at ?? null;
  const names = { payableId: undefined, paymentId: undefined, accountId: undefined };
  return { network, asset, transaction, amount, payer, payTo, at, ...names, ...rest };
}

export function presentLine(line: Line): object {
  const { status, network, asset, transaction, amount, payer, payTo, at, payableId, paymentId } = line;
  const token = findToken(network, asset);
  const payable =
    payableId === undefined ? {} : { [isRefundId(payableId) ? 'refund' : 'checkout_session']: payableId };
  return {
    status,
    at: at === null ? null : utcText(at),
    network,
    transaction,
    token: token?.symbol ?? asset,
    token_amount: String(amount),
    amount: token === undefined ? null : decimalText(String(amount), token.decimals),
    payer,
    pay_to: payTo,
    ...payable,
    ...(paymentId !== undefined && { payment: paymentId }),
    ...(line.accountId !== undefined && { account: line.accountId }),
    ...(line.differs !== undefined && { differs: line.differs }),
    ...(line.obstacle !== undefined && { because: line.obstacle }),
    ...(line.repaired !== undefined && { repaired: line.repaired }),
  };
}
