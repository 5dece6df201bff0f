import type { PayableEntry } from '../page-data.js';
import { causeOfWalletError } from '../words/causes.js';
import { jsonToBase64 } from './base64.js';
import { canPay, type Holdings, mostWhenNowhere, rankEntries } from './choose-entry.js';
import { addFromWallet, readHoldings } from './holdings.js';
import type { KeptPayment } from './memory.js';
import { type Nonces, type PageWallet, WalletProblem } from './wallet.js';

export type ConnectHow = 'asking' | 'another account';
export type WalletStep = 'connecting' | 'looking' | 'switching' | 'signing';

export interface AttemptView {
  show(step: WalletStep, entry: PayableEntry | undefined, address: string | undefined): void;
  holds(holdings: Holdings): void;
  formatBalance(entry: PayableEntry, balance: bigint): string;
}

interface SignOptions {
  /** The URL path of the link. */
  path: string;
  /** The entries of the wallet's chain family. */
  entries: readonly PayableEntry[];
  /** The entry named on the button or chosen by the buyer; no other entry is signed. */
  promised: PayableEntry | undefined;
  how: ConnectHow;
  nonces: Nonces;
}

/** The last request to the wallet. */
interface LastRequest {
  step: WalletStep;
  entry: PayableEntry | undefined;
}

/**
 * Connects, chooses an entry, switches the network and signs. Sends nothing. Aborting `signal` ends it at any
 * point; a signature that arrives later is dropped.
 */
export async function signWith(
  wallet: PageWallet,
  { path, entries, promised, how, nonces }: SignOptions,
  view: AttemptView,
  signal: AbortSignal,
): Promise<KeptPayment> {
  const until = <T>(work: Promise<T>): Promise<T> => orAborted(work, signal);
  let last: LastRequest = { step: 'connecting', entry: promised };
  const show: AttemptView['show'] = (step, entry, address) => {
    last = { step, entry };
    view.show(step, entry, address);
  };
  try {
    show('connecting', promised, undefined);
    if (how === 'another account') await until(changeAccount(wallet));
    const address = await until(wallet.connect('asking'));
    if (address === undefined) throw new WalletProblem('noAccount', { wallet: wallet.name });
    show('looking', promised, address);
    const holdings = await until(readHoldings(path, wallet, address, entries));
    view.holds(holdings);
    const entry = promised ?? rankEntries(entries, holdings)[0];
    if (entry === undefined) throw new WalletProblem('walletFailed', { wallet: wallet.name });
    requireEnough(entry, entries, holdings, view);
    await switchNetwork(entry, holdings);
    show('signing', entry, address);
    const { payload, validUntil } = await until(wallet.sign(entry, address, nonces));
    const header = jsonToBase64({ x402Version: 2, accepted: entry.accepted, payload });
    return { header, payer: address, validUntil };
  } catch (error) {
    throw describe(error, wallet, last, signal);
  }

  /** On the new network the wallet may read balances that were unknown before. */
  async function switchNetwork(entry: PayableEntry, holdings: Holdings): Promise<void> {
    const here = await until(wallet.network());
    if (here === undefined || here === entry.accepted.network) return;
    show('switching', entry, holdings.address);
    await until(wallet.switchTo(entry));
    const there = await until(
      addFromWallet({ ...holdings, network: entry.accepted.network }, wallet, entries),
    );
    view.holds(there);
    requireEnough(entry, entries, there, view);
  }
}

async function changeAccount(wallet: PageWallet): Promise<void> {
  try {
    await wallet.otherAccount();
  } catch (error) {
    const isDeclined = causeOfWalletError(error, 'connecting') === 'declined';
    throw isDeclined ? error : new WalletProblem('otherAccountHow');
  }
}

function requireEnough(
  entry: PayableEntry,
  entries: readonly PayableEntry[],
  holdings: Holdings,
  view: AttemptView,
): void {
  const balance = holdings.balances.get(entry);
  if (balance === undefined || canPay(entry, holdings) !== 'no') return;
  const most = mostWhenNowhere(entries, holdings);
  if (most !== undefined) {
    throw new WalletProblem('enoughNowhere', {
      count: String(most.networks),
      balance: view.formatBalance(most.entry, most.balance),
      network: most.entry.networkName,
    });
  }
  throw new WalletProblem('notEnough', {
    token: entry.token,
    network: entry.networkName,
    balance: view.formatBalance(entry, balance),
  });
}

function describe(
  error: unknown,
  { name }: PageWallet,
  { step, entry }: LastRequest,
  signal: AbortSignal,
): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof WalletProblem) {
    return new WalletProblem(error.word, { wallet: name, ...error.values });
  }
  const cause = causeOfWalletError(error, step) ?? 'walletFailed';
  return new WalletProblem(cause, { wallet: name, network: entry?.networkName ?? '' });
}

/** Wallets may leave a request unanswered forever. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
