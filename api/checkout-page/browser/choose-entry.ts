import type { PayableEntry } from '../page-data.js';

/**
 * Which entry a wallet pays unless the buyer chose one: the first that it can surely pay, else one of which it is known
 * that it cannot, which is then said: a wallet is not sent from network to network to find out.
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
