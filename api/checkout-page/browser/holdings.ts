import type { PayableEntry } from '../page-data.js';
import { askBalances } from './ask-server.js';
import type { Holdings } from './choose-entry.js';
import type { PageWallet } from './wallet.js';

/** Requests to a wallet time out, so that it cannot block the page. */
const WALLET_MS = 2000;

/** Reads all balances with one request to the service; the wallet fills in what the service could not read. */
export async function readHoldings(
  path: string,
  wallet: PageWallet,
  address: string,
  entries: readonly PayableEntry[],
): Promise<Holdings> {
  const [known, network] = await Promise.all([
    askBalances(path, address),
    atMost(WALLET_MS, wallet.network(), undefined),
  ]);
  const read = entries.flatMap((entry): [PayableEntry, bigint][] => {
    const found = known.find(
      (one) => one.network === entry.accepted.network && one.asset === entry.accepted.asset,
    );
    return typeof found?.balance === 'string' ? [[entry, BigInt(found.balance)]] : [];
  });
  const holdings: Holdings = { address, network, balances: new Map(read) };
  return await addFromWallet(holdings, wallet, entries);
}

/** Adds missing balances for the wallet's current network. */
export async function addFromWallet(
  { address, network, balances }: Holdings,
  wallet: PageWallet,
  entries: readonly PayableEntry[],
): Promise<Holdings> {
  const unread = entries.filter((entry) => entry.accepted.network === network && !balances.has(entry));
  if (unread.length === 0) return { address, network, balances };
  const seen = await atMost(WALLET_MS, wallet.balances(address, unread), new Map());
  return { address, network, balances: new Map([...balances, ...seen]) };
}

async function atMost<T>(ms: number, work: Promise<T>, otherwise: T): Promise<T> {
  const late = new Promise<T>((resolve) => setTimeout(resolve, ms, otherwise));
  return await Promise.race([work.catch(() => otherwise), late]);
}
