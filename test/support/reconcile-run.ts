import { type ChainReader, createChainReader } from '../../shared/chains/chain-reader.js';
import { createChains } from '../../shared/chains/chains.js';
import { findNetwork, type Network } from '../../shared/chains/networks/networks.js';
import { EndpointQueues } from '../../shared/chains/rpc/endpoint-queues.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Line, presentLine } from '../../shared/reconcile/line.js';
import { type ReconcileOptions, reconcile } from '../../shared/reconcile/reconcile.js';
import type { Summary } from '../../shared/reconcile/run.js';
import type { Books, ReportLine } from './books.js';
import { BASE_SEPOLIA, SOLANA_DEVNET } from './checkout.js';
import { loggerWithLines } from './log-lines.js';
import { EVENT_DEPS } from './money-flow.js';

export const NETWORKS = [BASE_SEPOLIA, SOLANA_DEVNET]
  .map(findNetwork)
  .filter((one): one is Network => one !== undefined);

export type RunOptions = Partial<ReconcileOptions> & {
  pauseMs?: number;
  /** Stands between the run and the chains. */
  wrap?: (reader: ChainReader) => ChainReader;
};

/** A run without the pauses of the command. */
export async function runReconcile(
  books: Books,
  { pauseMs = 1, wrap = (reader) => reader, ...options }: RunOptions = {},
  settings: Record<string, string> = {},
): Promise<{ lines: ReportLine[]; summary: Summary }> {
  const environment = { ...books.environment, ...settings, REDIS_URL: 'redis://unused' };
  const config = loadConfig(environment, 'cli');
  const queues = new EndpointQueues({ pace: { firstPauseMs: pauseMs, longestPauseMs: pauseMs } });
  const chains = createChains(config.rpcUrls, {
    retryPauseMs: 1,
    queues,
    confirmations: config.confirmations,
  });
  const lines: Line[] = [];
  try {
    const deps = {
      ...EVENT_DEPS,
      db: books.db,
      config,
      chains,
      chainReader: wrap(createChainReader(config.rpcUrls, { queues, pauseMs })),
      references: books.app.references,
      logger: loggerWithLines('warn').logger,
      notifyDecided: () => {},
    };
    const summary = await reconcile(deps, {
      reader: 'report',
      repair: false,
      networks: NETWORKS,
      onLine: (line) => void lines.push(line),
      ...options,
    });
    return { lines: lines.map((line) => presentLine(line) as ReportLine), summary };
  } finally {
    chains.close();
  }
}
