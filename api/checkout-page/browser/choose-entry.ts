import type { PayableEntry } from '../page-data.js';

/** What an account holds of each entry, in the token's smallest unit, and on which network its wallet is. */
export interface Holdings {
  address: string;
  /** An entry that is not in it could not be read: that is unknown, not nothing. */
  balances: ReadonlyMap<PayableEntry, bigint>;
  /** CAIP-2; undefined for a wallet that is on all networks of its family. */
  network: string | undefined;
}

const STANDING = { yes: 0, unknown: 1, no: 2 };

/**
 * Best first: enough beats unknown beats not enough; among equals the network that the wallet is on, which spares the buyer
 * a question; then the cheapest and fastest network.
 */
export function rankEntries(entries: readonly PayableEntry[], holdings: Holdings): PayableEntry[] {
  const { network } = holdings;
  const place = (entry: PayableEntry): readonly number[] => [
    STANDING[canPay(entry, holdings)],
    entry.accepted.network === network ? 0 : 1,
    entry.rank,
  ];
  return [...entries].sort((one, other) => {
    const [places, others] = [place(one), place(other)];
    const differs = places.findIndex((value, index) => value !== others[index]);
    return differs < 0 ? 0 : (places[differs] ?? 0) - (others[differs] ?? 0);
  });
}

export function canPay(
  entry: PayableEntry,
  { balances }: Pick<Holdings, 'balances'>,
): 'yes' | 'no' | 'unknown' {
  const balance = balances.get(entry);
  if (balance === undefined) return 'unknown';
  return balance >= BigInt(entry.accepted.amount) ? 'yes' : 'no';
}
