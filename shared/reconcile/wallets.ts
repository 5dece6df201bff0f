import type { NetworkFamily } from '../chains/networks/networks.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { DAY_MS } from '../values/day.js';
import { lowestIdAt } from '../values/ids.js';
import { RECEIVING_WALLETS } from './statements/wallets.sql.js';

interface ReceivingWallet {
  wallet: string;
  /** False for the wallet of a buyer who gets a refund. */
  isMerchants: boolean;
}

/** The longest time from a refund's creation until late money of it, and from a payment's claim. */
const REFUND_DAYS = 38;
const PAYMENT_DAYS = 8;

export type Wallets = ReadonlyMap<string, ReceivingWallet>;

/** EVM wallets in lower case, since facilitators spell them in any. */
export function byWallet(receivers: readonly ReceivingWallet[]): Wallets {
  const wallets = new Map<string, ReceivingWallet>();
  for (const { wallet, isMerchants } of receivers) {
    const key = keyOfWallet(wallet);
    wallets.set(key, { wallet: key, isMerchants: isMerchants || wallets.get(key)?.isMerchants === true });
  }
  return wallets;
}

export function keyOfWallet(wallet: string): string {
  return wallet.startsWith('0x') ? wallet.toLowerCase() : wallet;
}

/** The wallets that may have received money since then. */
export async function receivingWallets(
  db: Knex,
  { family, accountId, since }: { family: NetworkFamily; accountId: string | undefined; since: Date },
): Promise<ReceivingWallet[]> {
  return await runStatement<ReceivingWallet>(db, RECEIVING_WALLETS, [
    family,
    accountId ?? null,
    lowestIdAt('re_', since.getTime() - REFUND_DAYS * DAY_MS),
    oldestPayment(since),
  ]);
}

/** The lowest id of a payment whose money may have arrived since then. */
export function oldestPayment(since: Date): string {
  return lowestIdAt('pay_', since.getTime() - PAYMENT_DAYS * DAY_MS);
}
