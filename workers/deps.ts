import type { Chains } from '../shared/chains/confirmation.js';
import type { Config } from '../shared/config.js';
import type { Knex } from '../shared/db/knex.js';
import type { Logger } from '../shared/logger.js';
import type { RingDecided } from '../shared/queues/decision-bell.js';
import type { Queues } from '../shared/queues/enqueue.js';
import type { RingDeliveries } from '../shared/queues/ring-deliveries.js';
import type { SecretBox } from '../shared/secrets.js';
import type { RecentWrites } from '../shared/services/access/recent-writes.js';
import type { Facilitator } from '../shared/x402/facilitator.js';
import type { WorkerMetrics } from './worker-metrics.js';

/** Everything a worker process holds, handed to handlers explicitly. */
export interface WorkerDeps {
  config: Config;
  logger: Logger;
  db: Knex;
  recentWrites: RecentWrites;
  secretBox: SecretBox;
  queues: Queues;
  ringDeliveries: RingDeliveries;
  ringDecided: RingDecided;
  facilitator: Facilitator;
  chains: Chains;
  metrics: WorkerMetrics;
}
