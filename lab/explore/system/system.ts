import { pageAssets } from '../../../api/checkout-page/page-assets.js';
import type { Deps } from '../../../api/deps/deps.js';
import { readOffer } from '../../../api/payment-link/offer.js';
import { closeDeps, openDeps } from '../../../api/process/open-deps.js';
import { NO_RECENT_WRITES } from '../../../shared/accounts/recent-writes.js';
import { EndpointQueues } from '../../../shared/chains/rpc/endpoint-queues.js';
import { type Config, loadConfig } from '../../../shared/config/config.js';
import { type Knex, openDatabase } from '../../../shared/db/knex.js';
import { createLogger } from '../../../shared/process/logger.js';
import { findLinkedPayable } from '../../../shared/settlement/read-link.js';
import type { Facilitators } from '../../../shared/x402/facilitator/facilitators.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import type { WorkerDeps } from '../../../workers/deps/deps.js';
import { openOutsideCalls } from '../../../workers/settlement/outside-calls.js';
import { buildMerchant, buildSession } from '../../world/shop/factories.js';
import { type Gate, installGate } from './gate.js';

/**
 * The system that every trial runs on: one database, a web process's parts, and nested workers, each inside the call of
 * the one before.
 */
export interface System {
  /** Connects directly, without the gate. */
  db: Knex;
  web: Deps;
  workers: readonly SystemWorker[];
  accountId: string;
  /** The requirements of every session. */
  accepted: PaymentRequirements;
  config(confirmations: number): Config;
  close(): Promise<void>;
}

interface SystemWorker {
  deps: Omit<WorkerDeps, 'config' | 'facilitators' | 'chains'>;
  gate: Gate;
}

export const NETWORK = 'eip155:84532';
/** A worker, and the workers inside its call. */
const WORKERS = 4;
const CONFIRMATIONS = [0, 2];

const SUPPORTED: Pick<Facilitators, 'supported'> = { supported: async () => new Map([[NETWORK, []]]) };

export async function openSystem(databaseUrl: string): Promise<System> {
  const environment = {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '3',
    BASE_URL: 'https://pay.example',
    FACILITATOR_URL: 'http://127.0.0.1:1',
    LOG_LEVEL: 'silent',
  };
  const logger = createLogger('silent', 'explore');
  const web = openDeps(loadConfig(environment, 'web'), logger, pageAssets(new Map()));
  const configs = new Map(
    CONFIRMATIONS.map((count) => {
      const confirmations = { CONFIRMATIONS_EIP155_84532: String(count) };
      return [count, loadConfig({ ...environment, ...confirmations }, 'worker')];
    }),
  );
  const [config] = configs.values();
  if (config === undefined) throw new Error('no configuration');
  const workers = Array.from({ length: WORKERS }, () => openWorker(config, web));
  const { accountId } = await buildMerchant(web.db);
  return {
    db: web.db,
    web,
    workers,
    accountId,
    accepted: await readAccepted(web, accountId),
    config: (confirmations) => configs.get(confirmations) ?? config,
    async close() {
      web.settlements.close();
      await Promise.all(workers.map(({ deps }) => deps.db.destroy()));
      await closeDeps(web);
    },
  };
}

function openWorker(config: Config, { commits, logger, secretBox }: Deps): SystemWorker {
  const db = openDatabase(config.database);
  const gate = installGate(db);
  const queues = {
    enqueue: async () => undefined,
    check: async () => undefined,
    depths: async () => [],
    open: async () => [],
    close: async () => undefined,
  };
  const page = async (): Promise<string> => '';
  const counts = {
    settleCall: () => {},
    paymentDecided: () => {},
    deliveryTry: () => {},
    chainCheck: () => {},
    reconcileLine: () => {},
    reconcileRun: () => {},
  };
  const metrics = { ...counts, worker: 'on-stage', own: page, read: page };
  const endpointQueues = new EndpointQueues();
  const bells = { notifyDeliveries: () => {}, notifyDecided: () => {}, recentWrites: NO_RECENT_WRITES };
  return {
    gate,
    deps: {
      db,
      commits,
      baseUrl: config.baseUrl,
      logger,
      secretBox,
      queues,
      endpointQueues,
      metrics,
      settleCalls: openOutsideCalls('settle-payment', WORKERS, logger),
      chainChecks: openOutsideCalls('confirm-payment', WORKERS, logger),
      ...bells,
    },
  };
}

async function readAccepted(web: Deps, accountId: string): Promise<PaymentRequirements> {
  const { id } = await buildSession(web.db, accountId);
  const session = await findLinkedPayable(web.db, id);
  const offer =
    session && (await readOffer({ ...web, facilitators: { ...web.facilitators, ...SUPPORTED } }, session));
  if (offer === undefined || 'kind' in offer) throw new Error('nothing is offered');
  const [accepted] = offer.accepts;
  if (accepted === undefined) throw new Error('nothing is offered');
  return accepted;
}

export const supported = SUPPORTED.supported;
