import type { PayableEntry } from '../page-data.js';

/** Balances of an account by entry, in smallest units, and the network that its wallet is on. */
export interface Holdings {
  address: string;
  /** A missing entry means an unknown balance, not zero. */
  balances: ReadonlyMap<PayableEntry, bigint>;
  /** CAIP-2; undefined for a wallet that is on all networks of its family. */
  network: string | undefined;
}

const BALANCE_RANK = { yes: 0, unknown: 1, no: 2 };

/**
 * Best first: enough balance, then unknown, then not enough; then the current network of the wallet, which needs no
 * switch; then the cheapest and fastest network.
 */
export function rankEntries(entries: readonly PayableEntry[], holdings: Holdings): PayableEntry[] {
  const { network } = holdings;
  const rankOf = (entry: PayableEntry): readonly number[] => [
    BALANCE_RANK[canPay(entry, holdings)],
    entry.accepted.network === network ? 0 : 1,
    entry.rank,
  ];
  return [...entries].sort((one, other) => {
    const [ranks, others] = [rankOf(one), rankOf(other)];
    const differs = ranks.findIndex((value, index) => value !== others[index]);
    return differs < 0 ? 0 : (ranks[differs] ?? 0) - (others[differs] ?? 0);
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

/** The largest balance of an account that has enough nowhere. */
export interface Most {
  entry: PayableEntry;
  balance: bigint;
  /** How many networks were read; at least 2. */
  networks: number;
}

/** Undefined while a balance is enough or unknown, and on a single network. */
export function mostWhenNowhere(entries: readonly PayableEntry[], holdings: Holdings): Most | undefined {
  const networks = new Set(entries.map(({ accepted }) => accepted.network)).size;
  if (networks < 2 || entries.some((entry) => canPay(entry, holdings) !== 'no')) return undefined;
  const scaled = ({ decimals }: PayableEntry, balance: bigint): bigint =>
    balance * 10n ** BigInt(36 - decimals);
  let most: Most | undefined;
  for (const entry of entries) {
    const balance = holdings.balances.get(entry) ?? 0n;
    if (most === undefined || scaled(entry, balance) > scaled(most.entry, most.balance)) {
      most = { entry, balance, networks };
    }
  }
  return most;
}
