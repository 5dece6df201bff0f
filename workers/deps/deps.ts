import type { RecentWrites } from '../../shared/accounts/recent-writes.js';
import type { Chains } from '../../shared/chains/chains.js';
import type { EndpointQueues } from '../../shared/chains/rpc/endpoint-queues.js';
import type { Config } from '../../shared/config/config.js';
import type { CommitMemory } from '../../shared/db/commit-memory.js';
import type { Knex } from '../../shared/db/knex.js';
import type { Logger } from '../../shared/process/logger.js';
import type { NotifyDecided } from '../../shared/queues/decision-notifier.js';
import type { NotifyDeliveries } from '../../shared/queues/delivery-notifier.js';
import type { Queues } from '../../shared/queues/enqueue.js';
import type { SecretBox } from '../../shared/secrets/secrets.js';
import type { Facilitators } from '../../shared/x402/facilitator/facilitators.js';
import type { OutsideCalls } from '../settlement/outside-calls.js';
import type { WorkerMetrics } from './worker-metrics.js';

/** The dependencies of a worker process, passed to handlers explicitly. */
export interface WorkerDeps {
  config: Config;
  baseUrl: string;
  logger: Logger;
  db: Knex;
  /** How far Postgres had written. A refusal is doubtful while commits may have been lost. */
  commits: CommitMemory;
  recentWrites: RecentWrites;
  secretBox: SecretBox;
  queues: Queues;
  notifyDeliveries: NotifyDeliveries;
  notifyDecided: NotifyDecided;
  facilitators: Facilitators;
  chains: Chains;
  /** The queues of `chains`, for every other reader of chains. */
  endpointQueues: EndpointQueues;
  metrics: WorkerMetrics;
  settleCalls: OutsideCalls;
  chainChecks: OutsideCalls;
}
