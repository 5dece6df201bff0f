import type { Arrival } from '../chains/check/arrival.js';
import { findToken } from '../chains/networks/networks.js';
import { isSameAddress } from '../chains/networks/text-forms.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import type { RefundTerms } from '../payables/refund-terms.js';
import type { PaymentStatus } from '../payments/states.js';
import { centsToTokenAmount } from '../values/money.js';
import { type PayloadName, payloadKey } from '../x402/payload.js';
import { BOOKED_PAYABLES, MARKS_OF_PAYLOADS, PAYMENTS_OF_PAYLOADS } from './statements/books.sql.js';

/** The payment that the books have for a payload. */
export type BookedPayment =
  | {
      kind: 'kept';
      id: string;
      payableId: string;
      accountId: string;
      status: PaymentStatus;
      transaction: string | null;
      asset: string;
      payTo: string;
      tokenAmount: string;
    }
  /** The payment is archived: its amount has left the database. */
  | { kind: 'archived'; id: string; payableId: string; transaction: string | null };

/** A session or a refund, with the wallets and the amount that its link asks for. */
export interface BookedPayable {
  id: string;
  accountId: string;
  livemode: boolean;
  amountCents: number;
  refund: RefundTerms | null;
  /** Every wallet that the account has had. */
  wallets: readonly string[];
}

/** Undefined for a transfer that its payer has not authorized. */
export function keyOf({ network, asset, payload }: Arrival): string | undefined {
  if (payload === undefined) return undefined;
  const named: PayloadName =
    payload.family === 'evm' ? payload : { family: 'svm', messageHash: payload.messageHash };
  return payloadKey(network, asset, named);
}

/** Finds payments by payload key. */
export async function findBookedPayments(
  db: Knex,
  keys: readonly string[],
): Promise<ReadonlyMap<string, BookedPayment>> {
  const booked = new Map<string, BookedPayment>();
  if (keys.length === 0) return booked;
  type Found = { payloadKey: string } & Omit<BookedPayment, 'kind'>;
  const archived = await runStatement<Found>(db, MARKS_OF_PAYLOADS, [keys]);
  for (const { payloadKey: key, ...mark } of archived)
    booked.set(key, { kind: 'archived', ...mark } as BookedPayment);
  const kept = await runStatement<Found>(db, PAYMENTS_OF_PAYLOADS, [keys]);
  for (const { payloadKey: key, ...payment } of kept)
    booked.set(key, { kind: 'kept', ...payment } as BookedPayment);
  return booked;
}

/** Finds sessions and refunds by id; a session that Postgres does not have is missing. */
export async function findBookedPayables(
  db: Knex,
  ids: readonly string[],
): Promise<ReadonlyMap<string, BookedPayable>> {
  if (ids.length === 0) return new Map();
  const rows = await runStatement<BookedPayable>(db, BOOKED_PAYABLES, [[...new Set(ids)]]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** The amount that the payable asks for in the arrival's token; undefined when it does not ask for that token there. */
export function askedAmount(
  { livemode, amountCents, refund }: BookedPayable,
  arrival: Arrival,
): bigint | undefined {
  const token = findToken(arrival.network, arrival.asset);
  if (token === undefined) return undefined;
  if (refund !== null) {
    const isSame =
      refund.network === arrival.network && isSameAddress(refund.network, refund.asset, arrival.asset);
    return isSame ? BigInt(refund.tokenAmount) : undefined;
  }
  return token.network.testnet === livemode ? undefined : centsToTokenAmount(amountCents, token.decimals);
}

export function isReceiver({ refund, wallets }: BookedPayable, { network, payTo }: Arrival): boolean {
  const receivers = refund === null ? wallets : [refund.payTo];
  return receivers.some((wallet) => isSameAddress(network, wallet, payTo));
}
