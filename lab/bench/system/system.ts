import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ensureBuilt } from '../../../local/build/ensure-built.mjs';
import { type Config, loadConfig } from '../../../shared/config/config.js';
import { type Knex, openDatabase } from '../../../shared/db/knex.js';
import { killProcesses } from '../../world/processes/processes.js';
import { EVM_WALLET } from '../../world/shop/factories.js';
import { type BenchProcess, startServer } from './server-process.js';
import type { BenchServices } from './services.js';

/** The service and the baselines: processes in production mode, on one durable Postgres and one Redis. */
export interface System {
  services: Pick<BenchServices, 'databaseUrl' | 'redisUrl'>;
  db: Knex;
  config: Config;
  startWeb(settings?: Record<string, string>): Promise<BenchProcess>;
  startWorker(settings?: Record<string, string>): Promise<BenchProcess>;
  startBaseline(name: BaselineName, settings?: Record<string, string>): Promise<BenchProcess>;
  /** The setting that names a facilitator that answers at once. */
  startFacilitator(): Promise<FacilitatorSetting>;
  /** A web and a worker process with such a facilitator. */
  startAll(): Promise<{ facilitator: FacilitatorSetting; web: BenchProcess; worker: BenchProcess }>;
  close(): Promise<void>;
}

type FacilitatorSetting = { FACILITATOR_URL: string };

export type BaselineName =
  | 'insert'
  | 'bare-insert'
  | 'select'
  | 'bare-select'
  | 'list'
  | 'x402'
  | 'facilitator'
  | 'receiver'
  | 'post-webhooks'
  | 'expire-one-by-one';

export const PAYER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const ROOT = path.join(import.meta.dirname, '..', '..', '..');
const MIGRATE = 'dist/shared/migrate.js';
const WEB = 'dist/api/server.js';
const WORKER = 'dist/workers/main.js';
/** The path that each baseline answers once it is ready; those with a database answer it by a read. */
const READY_PATHS: Record<BaselineName, string> = {
  insert: '/',
  'bare-insert': '/',
  select: '/none',
  'bare-select': '/',
  list: '/none?limit=1',
  x402: '/ready',
  facilitator: '/supported',
  receiver: '/',
  'post-webhooks': '/',
  'expire-one-by-one': '/',
};

/** The programs are those in `folder`, where another checkout is built. */
export async function openSystem(services: System['services'], folder = ROOT): Promise<System> {
  await ensureBuilt(ROOT);
  const logs = await mkdtemp(path.join(os.tmpdir(), 'stablecoin-checkout-bench-'));
  const environment = {
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    FACILITATOR_URL: 'http://127.0.0.1:1',
    BASE_URL: 'https://pay.example',
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    // No chain runs here to be checked.
    CHECK_TOKEN_ACCOUNTS: 'false',
    // Requests are counted as in production, and none is refused.
    RATE_LIMIT_API_PER_SECOND: '1000000',
    RATE_LIMIT_LINK_PER_MINUTE: '10000000',
  };
  const config = loadConfig(environment, 'web');
  await promisify(execFile)(process.execPath, [path.join(folder, MIGRATE)], { env: environment });
  const db = openDatabase(config.database);
  const start = (script: string, askFor: string, settings: Record<string, string>): Promise<BenchProcess> =>
    startServer(script, {
      environment: { ...environment, ...settings },
      portVariable: script.endsWith(WORKER) ? 'WORKER_METRICS_PORT' : 'PORT',
      askFor,
      log: path.join(logs, path.basename(script, path.extname(script))),
    });
  const system: System = {
    services,
    db,
    config,
    startWeb: (settings = {}) => start(path.join(folder, WEB), '/readyz', settings),
    startWorker: (settings = {}) =>
      start(path.join(folder, WORKER), '/healthz', { METRICS_TOKEN: 'bench-metrics-token', ...settings }),
    startBaseline: (name, settings = {}) =>
      start(`lab/bench/baselines/${name}.mjs`, READY_PATHS[name], { PAYER, PAY_TO: EVM_WALLET, ...settings }),
    async startFacilitator() {
      return { FACILITATOR_URL: (await system.startBaseline('facilitator')).url };
    },
    async startAll() {
      const facilitator = await system.startFacilitator();
      return {
        facilitator,
        web: await system.startWeb(facilitator),
        worker: await system.startWorker(facilitator),
      };
    },
    async close() {
      await killProcesses();
      await db.destroy();
      await rm(logs, { recursive: true });
    },
  };
  return system;
}
