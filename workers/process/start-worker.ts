import { NO_RECENT_WRITES, openRecentWrites } from '../../shared/accounts/recent-writes.js';
import { createChains } from '../../shared/chains/confirmation.js';
import type { Config } from '../../shared/config/config.js';
import { followClock } from '../../shared/db/follow-clock.js';
import { openDatabase } from '../../shared/db/knex.js';
import { openReplica } from '../../shared/db/replica.js';
import { runStatement } from '../../shared/db/statement.js';
import { warnAboutPooler } from '../../shared/db/warn-about-pooler.js';
import type { JobName } from '../../shared/jobs/jobs.js';
import type { Logger } from '../../shared/process/logger.js';
import { type Closable, closeWithin } from '../../shared/process/shutdown.js';
import { waitAtMost } from '../../shared/process/within.js';
import {
  openRedis,
  openRedisBreaker,
  openWorkerRedis,
  type RedisClient,
  warnIfRedisMayEvict,
} from '../../shared/queues/connection.js';
import { decisionNotifier } from '../../shared/queues/decision-notifier.js';
import { openQueues } from '../../shared/queues/enqueue.js';
import { deliveryNotifier, type NotifyDeliveries } from '../../shared/queues/notify-deliveries.js';
import { logStoreState } from '../../shared/queues/store-state.js';
import { createSecretBox } from '../../shared/secrets/secrets.js';
import { openFacilitator, type Stores } from '../../shared/startup/open-facilitator.js';
import { warnAboutRiskySettings } from '../../shared/startup/risky-settings.js';
import { startTracing } from '../../shared/tracing/start.js';
import { createFacilitator, type Facilitator } from '../../shared/x402/facilitator.js';
import type { WorkerDeps } from '../deps/deps.js';
import { openWorkerMetrics, serveWorkerMetrics } from '../deps/worker-metrics.js';
import { Deliverer } from '../jobs/deliver-webhook.js';
import { cleanUpRegularly } from './clean-up.js';
import { createHandlers, type Handlers } from './handlers.js';
import { publishMetrics } from './publish-metrics.js';
import { runWorker } from './run-worker.js';
import { sweepDueWork } from './sweep-due-work.js';

/** How long jobs in flight may take when the process stops. */
const LEAVE_AFTER_MS = 20_000;
/** How long those whose calls are cut then may take to write that down. */
const WRITE_DOWN_MS = 1000;
/** And how long its connections may take to close: together less than a stopping process has. */
const CLOSE_MS = 3000;

interface Opened {
  deps: WorkerDeps;
  /** Over which jobs are waited for. */
  waiting: RedisClient | undefined;
  close(): Promise<void>;
}

export async function startWorker(config: Config, logger: Logger): Promise<Closable> {
  const tracing = await startTracing(config, 'checkout-worker', logger);
  const { deps, waiting, close } = await openDeps(config, logger);
  warnAboutRiskySettings(config, logger);
  if (config.redis === undefined) void warnAboutPooler(deps.db, logger);
  const deliverer = new Deliverer(deps);
  const handlers = createHandlers({ ...deps, notifyDeliveries: bellFor(deps, deliverer) }, deliverer);
  const news = logStoreState(logger);
  const start = <N extends JobName>(name: N): Closable => {
    const handle: Handlers[N] = handlers[name];
    return runWorker({ name, handle, config, redis: waiting, logger, news });
  };
  const workers = config.workerQueues.map((name) => start(name));
  const sweep = sweepDueWork(deps, handlers, deliverer, news);
  const cleanUp = cleanUpRegularly(deps);
  const clock = followClock(deps.db, logger);
  const metrics =
    config.workerMetricsPort === undefined
      ? publishMetrics(deps)
      : await serveWorkerMetrics(deps.metrics, config.workerMetricsPort, config.metricsToken);
  const closeConnections = async (): Promise<void> => {
    await waitAtMost(WRITE_DOWN_MS, metrics.close());
    await Promise.all([clock.close().then(close), tracing.close()]);
  };
  logger.info({ event: 'worker.started', queues: config.workerQueues, worker: deps.metrics.worker });
  return {
    async close() {
      const finished = Promise.all([
        sweep.close(),
        cleanUp.close(),
        deliverer.close(),
        ...workers.map((worker) => worker.close()),
      ]);
      await waitAtMost(LEAVE_AFTER_MS, finished);
      // A call still unanswered is cut. Its job writes that nothing is known and ends, so that another worker looks at
      // once; if even that hangs, the row has said since before the call that money may be moving.
      await deps.facilitator.close();
      await waitAtMost(WRITE_DOWN_MS, finished);
      await closeWithin(CLOSE_MS, closeConnections(), logger);
    },
  };
}

async function openDeps(config: Config, logger: Logger): Promise<Opened> {
  const db = openDatabase(config.database, logger);
  // A worker that cannot reach its database says so and ends, instead of looking alive.
  await runStatement(db, { name: undefined, text: 'SELECT 1' }, []);
  const replica = config.replica && openReplica(db, config.replica, logger);
  const ringing = config.redis && openRedis(config.redis, logger);
  if (ringing !== undefined) warnIfRedisMayEvict(ringing, logger);
  const breaker = ringing && openRedisBreaker(ringing, logger);
  const waiting = config.redis && openWorkerRedis(config.redis, logger);
  const queues = openQueues(config, ringing, logger);
  const chains = createChains(config.rpcUrls);
  const deps: WorkerDeps = {
    config,
    logger,
    db,
    recentWrites: replica === undefined ? NO_RECENT_WRITES : openRecentWrites(db, logger),
    secretBox: createSecretBox(config.encryptionKeys),
    queues,
    notifyDeliveries: deliveryNotifier(queues, logger),
    notifyDecided: decisionNotifier(ringing),
    facilitator: facilitatorFor(config, { db, redis: ringing, breaker }, logger),
    chains,
    metrics: openWorkerMetrics({ db, replica, queues, logger }),
  };
  return {
    deps,
    waiting,
    async close() {
      breaker?.close();
      await queues.close();
      chains.close();
      ringing?.disconnect();
      waiting?.disconnect();
      await replica?.close();
      await db.destroy();
    },
  };
}

/** A worker that delivers webhooks and has free slots sends what it makes due itself: that saves a job. */
function bellFor({ config, queues, logger }: WorkerDeps, deliverer: Deliverer): NotifyDeliveries {
  if (!config.workerQueues.includes('deliver-webhook')) return deliveryNotifier(queues, logger);
  return deliveryNotifier(queues, logger, (accountId) => deliverer.takeHere(accountId));
}

/** A worker that settles nothing takes no share of what the facilitator allows. */
function facilitatorFor({ facilitator, workerQueues }: Config, stores: Stores, logger: Logger): Facilitator {
  const asks = workerQueues.some((name) => name === 'settle-payment' || name === 'confirm-payment');
  return asks
    ? openFacilitator(facilitator, 'worker', stores, logger)
    : createFacilitator(facilitator, { logger });
}
