import { NO_RECENT_WRITES, openRecentWrites } from '../../shared/accounts/recent-writes.js';
import { createChains } from '../../shared/chains/chains.js';
import { EndpointQueues } from '../../shared/chains/rpc/endpoint-queues.js';
import type { Config } from '../../shared/config/config.js';
import { rethrowNamingDatabaseUrl } from '../../shared/db/connection.js';
import { followClock } from '../../shared/db/follow-clock.js';
import { openDatabase } from '../../shared/db/knex.js';
import { runStatement } from '../../shared/db/statement.js';
import { warnAboutPooler } from '../../shared/db/warn-about-pooler.js';
import type { JobName } from '../../shared/jobs/jobs.js';
import type { Logger } from '../../shared/process/logger.js';
import { type Closable, closeWithin } from '../../shared/process/shutdown.js';
import { waitAtMost } from '../../shared/process/timeout.js';
import { openWorkerRedis, type RedisClient, warnIfRedisMayEvict } from '../../shared/queues/connection.js';
import { decisionNotifier } from '../../shared/queues/decision-notifier.js';
import { deliveryNotifier, type NotifyDeliveries } from '../../shared/queues/delivery-notifier.js';
import { logStoreState } from '../../shared/queues/store-state.js';
import { warnIfNotMigrated } from '../../shared/schema/warn-if-not-migrated.js';
import { createSecretBox } from '../../shared/secrets/secrets.js';
import { PAYMENTS_OF_A_JOB } from '../../shared/settlement/settlement-notifier.js';
import { checkEncryptionKey } from '../../shared/startup/first-contact.js';
import { type FacilitatorStores, openFacilitators } from '../../shared/startup/open-facilitators.js';
import { openStores } from '../../shared/startup/open-stores.js';
import { warnAboutRiskySettings } from '../../shared/startup/risky-settings.js';
import { openLoggedCommitMemory } from '../../shared/startup/watch-installation.js';
import { startTracing } from '../../shared/tracing/start.js';
import { type Facilitators, openUnlimitedFacilitators } from '../../shared/x402/facilitator/facilitators.js';
import type { WorkerDeps } from '../deps/deps.js';
import { openWorkerMetrics, serveWorkerMetrics } from '../deps/worker-metrics.js';
import { Deliverer } from '../jobs/deliver-webhook.js';
import { openOutsideCalls } from '../settlement/outside-calls.js';
import { type OpenSender, openSenderHere } from '../webhook-delivery/sender.js';
import { cleanUpRegularly } from './clean-up.js';
import { foldReportsRegularly } from './fold-reports.js';
import { createHandlers, type Handlers } from './handlers.js';
import { publishMetrics } from './publish-metrics.js';
import { reconcileRegularly } from './reconcile-regularly.js';
import { repairDueTimesRegularly } from './repair-due-times-regularly.js';
import { runWorker } from './run-worker.js';
import { sweepDueWork } from './sweep-due-work.js';
import { watchQueues } from './watch-queues.js';
import { watchSecrets } from './watch-secrets.js';

/** A check takes several calls of its endpoint. A check of more than this time gives its job's place in the queue back. */
const SLOW_CHECK_MS = 500;
/** How long a stopping process waits for jobs in flight. Together the three times fit into the shutdown deadline of 25 s. */
const FINISH_MS = 20_000;
/** How long jobs with an aborted call may take to record it. */
const RECORD_MS = 1000;
/** How long connections may take to close. */
const CLOSE_MS = 3000;

interface Opened {
  deps: WorkerDeps;
  /** The connection of BullMQ's workers. */
  workerRedis: RedisClient | undefined;
  /** Part of the names of the queues in Redis. */
  installation: string;
  close(): Promise<void>;
}

/** `openSender` opens the sender of webhooks. A worker that has a process of its own sends in another thread. */
export async function startWorker(
  config: Config,
  logger: Logger,
  openSender: OpenSender = openSenderHere,
): Promise<Closable> {
  const tracing = await startTracing(config, 'checkout-worker', logger);
  const { deps, workerRedis, installation, close } = await openWorkerDeps(config, logger);
  warnAboutRiskySettings(config, logger);
  void warnIfNotMigrated(deps.db, logger);
  if (config.redis === undefined) void warnAboutPooler(deps.db, logger);
  const deliverer = new Deliverer(deps, openSender({ allowPrivateNetworks: config.allowPrivateWebhooks }));
  const handlers = createHandlers({ ...deps, notifyDeliveries: notifierFor(deps, deliverer) }, deliverer);
  const storeState = logStoreState(logger);
  const start = <N extends JobName>(name: N): Closable => {
    const handle: Handlers[N] = handlers[name];
    return runWorker({ name, handle, config, redis: workerRedis, installation, logger, storeState });
  };
  const workers = config.workerQueues.map((name) => start(name));
  const sweep = sweepDueWork(deps, handlers, deliverer, storeState);
  const dueTimes = repairDueTimesRegularly(deps);
  const cleanUp = cleanUpRegularly(deps);
  const books = reconcileRegularly(deps);
  const secrets = watchSecrets(deps);
  const reports = foldReportsRegularly(deps);
  const queues = watchQueues(deps);
  const clock = followClock(deps.db, logger);
  const metrics =
    config.workerMetricsPort === undefined
      ? publishMetrics(deps)
      : await serveWorkerMetrics(deps.metrics, config.workerMetricsPort, config.metricsToken);
  const closeConnections = async (): Promise<void> => {
    await waitAtMost(RECORD_MS, metrics.close());
    await Promise.all([clock.close().then(close), tracing.close()]);
  };
  logger.info({ event: 'worker.started', queues: config.workerQueues, worker: deps.metrics.worker });
  return {
    async close() {
      const finished = Promise.all([
        sweep.close(),
        dueTimes.close(),
        cleanUp.close(),
        books.close(),
        secrets.close(),
        reports.close(),
        queues.close(),
        deliverer.close(),
        ...workers.map((worker) => worker.close()),
      ]).then(() => Promise.all([deps.settleCalls.close(), deps.chainChecks.close()]));
      await waitAtMost(FINISH_MS, finished);
      // Aborts calls in flight. Their jobs record an unknown outcome, so that another worker looks for the payment at
      // once. If the recording hangs too, the row has been marked since before the call: money may be moving.
      await deps.facilitators.close();
      await waitAtMost(RECORD_MS, finished);
      await closeWithin(CLOSE_MS, closeConnections(), logger);
    },
  };
}

async function openWorkerDeps(config: Config, logger: Logger): Promise<Opened> {
  const commits = openLoggedCommitMemory(logger);
  const db = openDatabase(config.database, logger, { commits });
  // Fails the start when the database is unreachable, instead of running without it.
  await runStatement(db, { text: 'SELECT 1' }, []).catch(rethrowNamingDatabaseUrl);
  const secretBox = createSecretBox(config.encryptionKeys);
  await checkEncryptionKey(db, secretBox).catch(async (error: unknown) => {
    await db.destroy();
    throw error;
  });
  const stores = openStores(config, { db, commits }, logger);
  const { replica, redis, breaker, installation, queues } = stores;
  if (redis !== undefined) warnIfRedisMayEvict(redis, logger);
  const workerRedis = config.redis && openWorkerRedis(config.redis, logger);
  installation.start();
  const endpointQueues = new EndpointQueues({ logger });
  const chains = createChains(config.rpcUrls, {
    queues: endpointQueues,
    confirmations: config.confirmations,
  });
  const facilitators = facilitatorsFor(config, { db, redis, breaker }, logger);
  const slots = config.workerConcurrency * PAYMENTS_OF_A_JOB;
  const deps: WorkerDeps = {
    config,
    baseUrl: config.baseUrl,
    logger,
    db,
    commits,
    recentWrites: replica === undefined ? NO_RECENT_WRITES : openRecentWrites(db, logger),
    secretBox,
    queues,
    notifyDeliveries: deliveryNotifier(queues, logger),
    notifyDecided: decisionNotifier(redis),
    facilitators,
    chains,
    endpointQueues,
    metrics: openWorkerMetrics(
      { config, db, replica, queues, logger, commits, installation, facilitators },
      { chains, serves: config.workerQueues },
    ),
    settleCalls: openOutsideCalls('settle-payment', slots, logger),
    chainChecks: openOutsideCalls('confirm-payment', slots, logger, SLOW_CHECK_MS),
  };
  return {
    deps,
    workerRedis,
    installation: await stores.nameInstallation(),
    async close() {
      await installation.close();
      breaker?.close();
      await queues.close();
      chains.close();
      redis?.disconnect();
      workerRedis?.disconnect();
      await replica?.close();
      await db.destroy();
    },
  };
}

/** A worker that serves deliveries and has a free slot delivers its own events without a job. */
function notifierFor({ config, queues, logger }: WorkerDeps, deliverer: Deliverer): NotifyDeliveries {
  if (!config.workerQueues.includes('deliver-webhook')) return deliveryNotifier(queues, logger);
  return deliveryNotifier(queues, logger, (accountId) => deliverer.deliverHere(accountId));
}

/** A worker that does not call the facilitators takes no share of their limits. */
function facilitatorsFor(
  { facilitators, workerQueues }: Config,
  stores: FacilitatorStores,
  logger: Logger,
): Facilitators {
  const asks = workerQueues.some((name) => name === 'settle-payment' || name === 'confirm-payment');
  return asks
    ? openFacilitators(facilitators, 'worker', stores, logger)
    : openUnlimitedFacilitators(facilitators, logger);
}
