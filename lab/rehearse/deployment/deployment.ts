import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { EvmChain } from '../../world/chains/evm-chain.js';
import { hex } from '../../world/chains/evm-logs.js';
import type { RpcEndpoint } from '../../world/chains/rpc-endpoint.js';
import { type FakeFacilitator, startFacilitator } from '../../world/facilitator/facilitator.js';
import type { Movement } from '../../world/facilitator/judgement.js';
import { findFreePort } from '../../world/http/listen.js';
import { startPgBouncer } from '../../world/processes/pgbouncer.js';
import {
  killProcesses,
  type ServiceProcess,
  startWebProcess,
  startWorkerProcess,
  type WebServiceProcess,
} from '../../world/processes/processes.js';
import { SELF_SIGNED } from '../../world/processes/self-signed.js';
import { spawnRedis } from '../../world/processes/services.js';
import type { Parts } from '../../world/program/parts.js';
import { type Receiver, startReceiver } from '../../world/receiver/receiver.js';
import { createMerchant, migrateByCommand } from '../../world/shop/create-merchant.js';
import { type Alertmanager, startAlertmanager } from './alertmanager.js';
import { ask } from './ask.js';
import { startBalancer } from './balancer.js';
import { type Prometheus, startPrometheus } from './prometheus.js';
import { type RestorablePostgres, startRestorablePostgres } from './restorable-postgres.js';

/**
 * Two web and two worker processes in production mode behind a balancer, with Postgres behind a pooler, its standby, and
 * Redis, all over TLS but the standby, watched by Prometheus with an Alertmanager. Only the facilitator, its chain and the
 * merchant's receiver are fakes.
 */
export interface Deployment {
  url: string;
  key: string;
  webs: readonly WebServiceProcess[];
  workers: readonly ServiceProcess[];
  /** Resolves when the balancer routes requests to every web process. */
  untilAllServe(): Promise<void>;
  facilitator: FakeFacilitator;
  chain: RpcEndpoint;
  receiver: Receiver;
  prometheus: Prometheus;
  alertmanager: Alertmanager;
  /** Stops Redis for this long, which loses its data. */
  loseRedis(ms: number): Promise<void>;
  /** The environment of each process, and of the operator's commands. */
  environment: Record<string, string>;
  postgres: RestorablePostgres;
  /** An operator's connection to Redis. */
  redis: Redis;
  /** Runs statements as Postgres' superuser, past the pooler, in one connection. */
  runSql(...statements: string[]): Promise<void>;
  adminPassword: string;
}

export interface Around {
  folder: string;
  parts: Parts;
}

const TOKEN = 'rehearsal-metrics-token';
const ADMIN_PASSWORD = 'rehearsal-admin-password';
const SETTINGS = {
  NODE_ENV: 'production',
  // Debian's PgBouncer is older than 1.21.
  DATABASE_PREPARED_STATEMENTS: 'false',
  FACILITATOR_SETTLE_TIMEOUT_MS: '5000',
  TRUST_PROXY: '1',
  METRICS_TOKEN: TOKEN,
  ADMIN_PASSWORD,
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
  RATE_LIMIT_LINK_PER_MINUTE: '1000000',
  RATE_LIMIT_API_PER_SECOND: '10000',
};
const OF_EACH = 2;
const CHAIN_ID = 84532;
const BLOCK_MS = 1000;
/** The duration of the facilitator's and the chain's work: a process that ends during it gets no answer. */
const SETTLES_WITHIN_MS = 300;

export async function openDeployment({ folder, parts }: Around): Promise<Deployment> {
  const tls = { cert: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem') };
  const certificate = path.join(folder, 'both.pem');
  await Promise.all([
    writeFile(tls.cert, SELF_SIGNED.cert),
    writeFile(tls.key, SELF_SIGNED.key),
    writeFile(certificate, SELF_SIGNED.cert + SELF_SIGNED.key),
  ]);
  const chain = parts.keep(await EvmChain.start(CHAIN_ID));
  const blocks = setInterval(() => chain.mine(), BLOCK_MS);
  parts.keep({ stop: async () => clearInterval(blocks) });
  const [postgres, redis, facilitator, receiver] = await Promise.all([
    startRestorablePostgres(),
    startRedis(tls),
    startFacilitator({
      networks: [`eip155:${CHAIN_ID}`],
      onSettled: (movement) => carryOut(chain, movement),
    }),
    startReceiver(),
  ]);
  for (const one of [postgres, redis, facilitator, receiver]) parts.keep(one);
  const pooler = parts.keep(await startPgBouncer(postgres.url, SELF_SIGNED));

  const [port = 0, ...ports] = await Promise.all(Array.from({ length: 1 + 2 * OF_EACH }, findFreePort));
  const url = `https://localhost:${port}`;
  const environment = {
    ...SETTINGS,
    // The certificate is verified, as in production: these processes trust no other authority for it.
    NODE_EXTRA_CA_CERTS: tls.cert,
    DATABASE_URL: pooler.url,
    DATABASE_REPLICA_URL: postgres.standbyUrl,
    REDIS_URL: redis.url,
    FACILITATOR_URL: facilitator.url,
    [`RPC_URL_EIP155_${CHAIN_ID}`]: chain.endpoint.url,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    BASE_URL: url,
  };
  await migrateByCommand(environment);
  parts.keep({ stop: killProcesses });
  const [webs, workers] = await Promise.all([
    Promise.all(ports.slice(0, OF_EACH).map((one) => startWebProcess({ ...environment, PORT: String(one) }))),
    Promise.all(
      ports
        .slice(OF_EACH)
        .map((one) => startWorkerProcess({ ...environment, WORKER_METRICS_PORT: String(one) })),
    ),
  ]);
  const balancer = await startBalancer({ folder, certificate, port, webPorts: ports.slice(0, OF_EACH) });
  parts.keep(balancer);
  const monitoring = await startMonitoring({ folder, parts }, ports);
  const { key } = await createMerchant('Rehearsal', environment);
  await addEndpoint(url, key, receiver.url);
  const { untilAllServe } = balancer;
  return {
    url,
    key,
    webs,
    workers,
    untilAllServe,
    facilitator,
    chain: chain.endpoint,
    receiver,
    ...monitoring,
    environment,
    postgres,
    loseRedis: redis.lose,
    redis: redis.admin,
    runSql: (...statements) => runSql(postgres.url, statements),
    adminPassword: ADMIN_PASSWORD,
  };
}

async function startMonitoring(
  { folder, parts }: Around,
  ports: readonly number[],
): Promise<Pick<Deployment, 'prometheus' | 'alertmanager'>> {
  const alertmanager = parts.keep(await startAlertmanager(folder));
  const prometheus = await startPrometheus(folder, {
    ports,
    token: TOKEN,
    alertmanagerPort: alertmanager.port,
  });
  parts.keep(prometheus);
  return { prometheus, alertmanager };
}

async function carryOut(
  chain: EvmChain,
  { asset, from, to, amount, paymentId, transaction }: Movement,
): Promise<void> {
  await sleep(SETTLES_WITHIN_MS);
  chain.movePayment({ asset, from, payTo: to, amount, nonce: paymentId }, hex(transaction));
}

interface LosableRedis {
  url: string;
  admin: Redis;
  lose(ms: number): Promise<void>;
  stop(): Promise<void>;
}

async function startRedis(tls: { cert: string; key: string }): Promise<LosableRedis> {
  const port = await findFreePort();
  let server = await spawnRedis(port, tls);
  const url = `rediss://localhost:${port}`;
  const admin = new Redis(url, { tls: { ca: SELF_SIGNED.cert } });
  admin.on('error', () => {
    // The rehearsal stops Redis.
  });
  return {
    url,
    admin,
    async lose(ms) {
      await server.stop();
      await sleep(ms);
      server = await spawnRedis(port, tls);
    },
    async stop() {
      admin.disconnect();
      await server.stop();
    },
  };
}

async function runSql(connectionString: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Returns the endpoint's id. */
export async function addEndpoint(url: string, key: string, receiver: string): Promise<string> {
  const response = await ask(`${url}/v1/webhook_endpoints`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: receiver, enabled_events: ['checkout.session.completed'] }),
  });
  if (response.status !== 200) throw new Error(`the merchant got no webhook endpoint: ${response.status}`);
  const { id } = (await response.json()) as { id: string };
  return id;
}
