import { LRUCache } from 'lru-cache';
import { MAX_PAYOUT_WALLETS_KEPT } from '../limits/bounds.js';
import type { Logger } from '../process/logger.js';
import { outsideTrace } from '../tracing/spans.js';
import { findToken } from './networks.js';
import type { EndpointUnreadable } from './throttled-endpoint.js';

/**
 * Whether merchants have the accounts that Solana's tokens are paid into: a payment cannot open one. Who asks is told at
 * once what is known; what is not, or was looked at some time ago, is looked at in the background.
 */
export interface PayoutAccounts {
  /** By the chain's own word, and not long ago. */
  isMissing(payout: Payout): boolean;
  close(): void;
}

export interface Payout {
  /** CAIP-2. */
  network: string;
  wallet: string;
  asset: string;
}

/** An account that is not there, of those that a wallet has for the tokens of a network. */
export interface MissingAccount {
  asset: string;
  account: string;
}

export type FindMissing = (
  network: string,
  wallet: string,
) => Promise<readonly MissingAccount[] | EndpointUnreadable>;

interface Wallet {
  network: string;
  wallet: string;
  missing: ReadonlySet<string>;
  /** When the chain has said so. */
  foundAtMs: number;
  triedAtMs: number;
  askedAtMs: number;
  looking: boolean;
}

const PAUSES = {
  /** Nobody is refused a payment for longer by what was true then. */
  believedMs: 60_000,
  /** Somebody may be about to open one. */
  missingAgainMs: 20_000,
  /** One that is there is hardly ever closed. */
  completeAgainMs: 600_000,
  /** Since a link of theirs was last opened. */
  followedMs: 3_600_000,
};
const NEVER = Number.NEGATIVE_INFINITY;

export function watchPayoutAccounts(
  findMissing: FindMissing,
  logger: Logger,
  { believedMs, missingAgainMs, completeAgainMs, followedMs } = PAUSES,
): PayoutAccounts {
  const wallets = new LRUCache<string, Wallet>({ max: MAX_PAYOUT_WALLETS_KEPT });

  function walletOf({ network, wallet }: Payout): Wallet {
    const key = `${network} ${wallet}`;
    const unknown = { missing: new Set<string>(), foundAtMs: NEVER, triedAtMs: NEVER, looking: false };
    const known = wallets.get(key) ?? { network, wallet, ...unknown, askedAtMs: NEVER };
    wallets.set(key, known);
    return known;
  }

  async function look(of: Wallet): Promise<void> {
    if (of.looking) return;
    of.looking = true;
    of.triedAtMs = performance.now();
    const found = await outsideTrace(() => findMissing(of.network, of.wallet)).catch(() => undefined);
    of.looking = false;
    // What cannot be read is not missing; what was known is believed for as long as it would have been.
    if (found === undefined || 'kind' in found) return;
    tell(of, found);
    of.missing = new Set(found.map(({ asset }) => asset));
    of.foundAtMs = performance.now();
  }

  function tell({ network, wallet, missing: before }: Wallet, missing: readonly MissingAccount[]): void {
    const told = (asset: string) => ({ network, token: findToken(network, asset)?.symbol, wallet });
    for (const { asset, account } of missing) {
      if (before.has(asset)) continue;
      logger.warn({
        event: 'payout.account_missing',
        ...told(asset),
        account,
        hint: 'Links of this merchant do not offer this token: a payment cannot open the account that it is paid into. Have the wallet open it.',
      });
    }
    const isMissing = new Set(missing.map(({ asset }) => asset));
    for (const asset of before)
      if (!isMissing.has(asset)) logger.info({ event: 'payout.account_opened', ...told(asset) });
  }

  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const wallet of wallets.values())
      if (wallet.missing.size > 0 && nowMs - wallet.askedAtMs < followedMs) void look(wallet);
  }, missingAgainMs);
  timer.unref();

  return {
    isMissing(payout) {
      const nowMs = performance.now();
      const wallet = walletOf(payout);
      wallet.askedAtMs = nowMs;
      const againMs =
        wallet.missing.size > 0 || wallet.foundAtMs === NEVER ? missingAgainMs : completeAgainMs;
      if (nowMs - wallet.triedAtMs >= againMs) void look(wallet);
      return nowMs - wallet.foundAtMs < believedMs && wallet.missing.has(payout.asset);
    },
    close: () => clearInterval(timer),
  };
}

/** Where nobody looks, every account is taken to be there. */
export const ASSUME_ACCOUNTS_EXIST: PayoutAccounts = { isMissing: () => false, close: () => {} };
