import { MAX_PAYOUT_WALLETS_KEPT } from '../../limits/bounds.js';
import { lruCache } from '../../limits/lru-cache.js';
import type { Logger } from '../../process/logger.js';
import { outsideTrace } from '../../tracing/spans.js';
import { findToken } from '../networks/networks.js';
import type { EndpointUnreadable } from '../rpc/throttled-endpoint.js';

/**
 * Knows whether merchants' wallets have the Solana token accounts that payments go to: a payment cannot open one.
 * `isMissing` answers at once from memory; unknown and outdated wallets are checked in the background.
 */
export interface PayoutAccounts {
  /** True only when a recent chain query found the account missing. */
  isMissing(payout: Payout): boolean;
  close(): void;
}

interface Payout {
  /** CAIP-2. */
  network: string;
  wallet: string;
  asset: string;
}

/** A token account that a wallet lacks on a network. */
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
  /** When the chain last answered. */
  foundAtMs: number;
  triedAtMs: number;
  askedAtMs: number;
  isChecking: boolean;
}

const PAUSES = {
  /** An answer older than this withholds no token from a link. */
  believedMs: 60_000,
  /** Short, since the merchant may open the account at any time. */
  missingAgainMs: 20_000,
  /** Long, since accounts are hardly ever closed. */
  completeAgainMs: 600_000,
  /** A wallet with a missing account is checked for this long after a link of its merchant was last opened. */
  followedMs: 3_600_000,
};
/** Fewer than an endpoint gets calls at once: it refuses more, and a wallet that was not read would count as complete. */
const CHECKS_AT_ONCE = 8;
const NEVER = Number.NEGATIVE_INFINITY;

export function watchPayoutAccounts(
  findMissing: FindMissing,
  logger: Logger,
  { believedMs, missingAgainMs, completeAgainMs, followedMs } = PAUSES,
): PayoutAccounts {
  const wallets = lruCache<Wallet>(MAX_PAYOUT_WALLETS_KEPT);

  function walletOf({ network, wallet }: Payout): Wallet {
    const key = `${network} ${wallet}`;
    const unknown = { missing: new Set<string>(), foundAtMs: NEVER, triedAtMs: NEVER, isChecking: false };
    const known = wallets.get(key) ?? { network, wallet, ...unknown, askedAtMs: NEVER };
    wallets.set(key, known);
    return known;
  }

  async function check(wallet: Wallet): Promise<void> {
    if (wallet.isChecking) return;
    wallet.isChecking = true;
    wallet.triedAtMs = performance.now();
    const found = await outsideTrace(() => findMissing(wallet.network, wallet.wallet)).catch(() => undefined);
    wallet.isChecking = false;
    // A failed read keeps the last answer, which still expires after `believedMs`.
    if (found === undefined || 'kind' in found) return;
    logChanges(wallet, found);
    wallet.missing = new Set(found.map(({ asset }) => asset));
    wallet.foundAtMs = performance.now();
  }

  /** Checks the wallets of the list one by one, and takes each off it: several calls share one list. */
  async function checkAll(due: Wallet[]): Promise<void> {
    for (let wallet = due.shift(); wallet !== undefined; wallet = due.shift()) await check(wallet);
  }

  function logChanges(
    { network, wallet, missing: before }: Wallet,
    missing: readonly MissingAccount[],
  ): void {
    const fields = (asset: string) => ({ network, token: findToken(network, asset)?.symbol, wallet });
    for (const { asset, account } of missing) {
      if (before.has(asset)) continue;
      logger.warn({
        event: 'payout.account_missing',
        ...fields(asset),
        account,
        hint: 'Links of this merchant do not offer this token: a payment cannot open the account that it is paid into. Have the wallet open it.',
      });
    }
    const isMissing = new Set(missing.map(({ asset }) => asset));
    for (const asset of before)
      if (!isMissing.has(asset)) logger.info({ event: 'payout.account_opened', ...fields(asset) });
  }

  let isRound = false;

  /** A round that takes longer than its interval, at a slow endpoint, is followed by the next one, and not joined by it. */
  async function checkMissingAgain(): Promise<void> {
    if (isRound) return;
    isRound = true;
    const nowMs = performance.now();
    const due = [...wallets.values()].filter(
      ({ missing, askedAtMs }) => missing.size > 0 && nowMs - askedAtMs < followedMs,
    );
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, () => checkAll(due)));
    isRound = false;
  }

  const timer = setInterval(() => void checkMissingAgain(), missingAgainMs);
  timer.unref();

  return {
    isMissing(payout) {
      const nowMs = performance.now();
      const wallet = walletOf(payout);
      wallet.askedAtMs = nowMs;
      const againMs =
        wallet.missing.size > 0 || wallet.foundAtMs === NEVER ? missingAgainMs : completeAgainMs;
      if (nowMs - wallet.triedAtMs >= againMs) void check(wallet);
      return nowMs - wallet.foundAtMs < believedMs && wallet.missing.has(payout.asset);
    },
    close: () => clearInterval(timer),
  };
}

/** The accounts for processes that query no chain: every account counts as existing. */
export const ASSUME_ACCOUNTS_EXIST: PayoutAccounts = { isMissing: () => false, close: () => {} };
