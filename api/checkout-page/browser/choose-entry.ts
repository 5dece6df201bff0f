import type { PayableEntry } from '../page-data.js';

/**
 * The entry that a wallet pays when the buyer has chosen none: the first that it surely can pay. If there is none, the
 * first that it surely cannot, and the buyer is told so: a wallet is not sent from network to network to find out.
 */
export function chooseEntry(
  entries: readonly PayableEntry[],
  balances: ReadonlyMap<PayableEntry, bigint>,
): PayableEntry | undefined {
  return (
    entries.find((entry) => canPay(entry, balances) === 'yes') ??
    entries.find((entry) => canPay(entry, balances) === 'no') ??
    entries[0]
  );
}

export function canPay(
  entry: PayableEntry,
  balances: ReadonlyMap<PayableEntry, bigint>,
): 'yes' | 'no' | 'unknown' {
  const balance = balances.get(entry);
  if (balance === undefined) return 'unknown';
  return balance >= BigInt(entry.accepted.amount) ? 'yes' : 'no';
}
