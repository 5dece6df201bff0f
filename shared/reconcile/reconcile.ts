import { ChainUnreadable } from '../chains/check/unreadable.js';
import { confirmationsOf, type Network, type NetworkFamily } from '../chains/networks/networks.js';
import { certainNow } from '../process/clock.js';
import { checkSucceeded } from './check-succeeded.js';
import type { Line } from './line.js';
import type { Reader } from './positions.js';
import { readEvm } from './read-evm.js';
import { readSolana } from './read-solana.js';
import { emptySummary, firstTimeOf, type ReconcileDeps, type Run, RunEnded, type Summary } from './run.js';
import { byWallet, receivingWallets, type Wallets } from './wallets.js';

/**
 * Holds the books against the chains: every transfer to a merchant's wallet against the payments, and every succeeded
 * payment against the chain. When a network's endpoint refuses, the next run goes on where this run stopped.
 */
export interface ReconcileOptions {
  reader: Reader;
  repair: boolean;
  networks: readonly Network[];
  accountId?: string | undefined;
  since?: Date | undefined;
  onLine(line: Line): Promise<void> | void;
  goesOn?(): Promise<boolean>;
}

const NETWORKS_AT_ONCE = 4;
/** A block's time is cut to whole seconds: a transfer after `since` may be in a block that is dated before it. */
const BLOCK_SECOND_MS = 1000;
/** A facilitator's word may be ahead of the chain's endpoint. A command reports at once, an alert waits. */
const WORKER_WAITS_MS = 10 * 60_000;

export async function reconcile(deps: ReconcileDeps, options: ReconcileOptions): Promise<Summary> {
  const { reader, repair, accountId, onLine, goesOn = async () => true } = options;
  const since = options.since && new Date(options.since.getTime() - BLOCK_SECOND_MS);
  const startedAt = certainNow();
  const run: Run = {
    reader,
    repair,
    accountId,
    since,
    startedAt,
    firstTime: firstTimeOf(startedAt),
    leavesMs: reader === 'worker' ? WORKER_WAITS_MS : 0,
    onLine,
    goesOn,
    seen: new Set(),
    summary: emptySummary(),
  };
  const walletsOf = async (family: NetworkFamily): Promise<Wallets> =>
    byWallet(await receivingWallets(deps.db, { family, accountId, since: since ?? run.firstTime }));
  const waiting = [...options.networks];
  await Promise.all(
    Array.from({ length: NETWORKS_AT_ONCE }, async () => {
      for (let network = waiting.shift(); network !== undefined; network = waiting.shift())
        await readNetwork(deps, run, network, () => walletsOf(network.family));
    }),
  );
  return run.summary;
}

async function readNetwork(
  deps: ReconcileDeps,
  run: Run,
  network: Network,
  walletsOf: () => Promise<Wallets>,
): Promise<void> {
  const wallets = await walletsOf();
  if (wallets.size === 0) return;
  const { family, caip2 } = network;
  const confirmations = confirmationsOf(deps.config.confirmations, caip2);
  const networkRun = { run, deps, network: caip2, wallets, confirmations, listedFor: () => undefined };
  try {
    if (family === 'evm') await readEvm(networkRun, network, walletsOf);
    else await readSolana(networkRun, network);
    // The check follows the transfers, so that only payments whose money was not seen are asked for.
    await checkSucceeded(networkRun);
  } catch (error) {
    if (!(error instanceof ChainUnreadable || error instanceof RunEnded)) throw error;
    run.summary.unread.push({ network: caip2, reason: error.message });
  }
}
