import type { PayableEntry } from '../page-data.js';
import { causeOfWalletError } from '../words/causes.js';
import { jsonToBase64 } from './base64.js';
import { canPay, chooseEntry } from './choose-entry.js';
import { type PageWallet, WalletProblem } from './wallet.js';

export type WalletStep = 'connecting' | 'switching' | 'signing';

/** What the wallet was asked for last. */
interface Asked {
  step: WalletStep;
  entry: PayableEntry | undefined;
}

export interface AttemptView {
  show(step: WalletStep, entry: PayableEntry | undefined): void;
  /** The wallet is connected: what it holds, and which entry it is going to pay. */
  connected(balances: ReadonlyMap<PayableEntry, bigint>, entry: PayableEntry): void;
  formatBalance(entry: PayableEntry, balance: bigint): string;
}

export interface SignedPayment {
  /** For PAYMENT-SIGNATURE. */
  header: string;
  validUntil: number;
}

/**
 * Connect, choose, switch, sign. Nothing is sent here. Whatever the wallet does, or does not do, ends when `signal`
 * does; a signature that comes later is dropped.
 */
export async function signWith(
  wallet: PageWallet,
  entries: readonly PayableEntry[],
  chosen: PayableEntry | undefined,
  view: AttemptView,
  signal: AbortSignal,
): Promise<SignedPayment> {
  const until = <T>(work: Promise<T>): Promise<T> => orAborted(work, signal);
  let asked: Asked = { step: 'connecting', entry: chosen };
  const show = (step: WalletStep, entry: PayableEntry | undefined): void => {
    asked = { step, entry };
    view.show(step, entry);
  };
  try {
    const fitting = entries.filter(({ family }) => family === wallet.family);
    show('connecting', undefined);
    const address = await until(wallet.connect('asking'));
    if (address === undefined) throw new WalletProblem('noAccount', { wallet: wallet.name });
    const balances = await until(wallet.balances(address, fitting));
    const entry = chosen ?? chooseEntry(fitting, balances);
    if (entry === undefined) throw new WalletProblem('walletFailed', { wallet: wallet.name });
    view.connected(balances, entry);
    requireEnough(entry, balances, view);
    if (await until(wallet.needsSwitch(entry))) {
      show('switching', entry);
      await until(wallet.switchTo(entry));
      const there = await until(wallet.balances(address, fitting));
      view.connected(new Map([...balances, ...there]), entry);
      requireEnough(entry, there, view);
    }
    show('signing', entry);
    const { payload, validUntil } = await until(wallet.sign(entry, address));
    const header = jsonToBase64({ x402Version: 2, accepted: entry.accepted, payload });
    return { header, validUntil };
  } catch (error) {
    throw describe(error, wallet, asked, signal);
  }
}

function requireEnough(
  entry: PayableEntry,
  balances: ReadonlyMap<PayableEntry, bigint>,
  view: AttemptView,
): void {
  const balance = balances.get(entry);
  if (balance === undefined || canPay(entry, balances) !== 'no') return;
  throw new WalletProblem('notEnough', {
    token: entry.token,
    network: entry.networkName,
    balance: view.formatBalance(entry, balance),
  });
}

function describe(
  error: unknown,
  { name }: PageWallet,
  { step, entry }: Asked,
  signal: AbortSignal,
): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof WalletProblem) {
    return new WalletProblem(error.word, { wallet: name, ...error.values });
  }
  const cause = causeOfWalletError(error, step) ?? 'walletFailed';
  return new WalletProblem(cause, { wallet: name, network: entry?.networkName ?? '' });
}

/** Wallets may leave a request open for ever. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
