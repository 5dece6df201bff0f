import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { solanaBalances } from '../../world/chains/balances.js';
import { RpcEndpoint } from '../../world/chains/rpc-endpoint.js';
import { startFacilitator } from '../../world/facilitator/facilitator.js';
import { findFreePort } from '../../world/http/listen.js';
import { eventually } from '../../world/processes/eventually.js';
import { SELF_SIGNED } from '../../world/processes/self-signed.js';
import { startTestPostgres, startTestRedis } from '../../world/processes/services.js';
import type { StartedProcess } from '../../world/processes/supervisor.js';
import type { Parts } from '../../world/program/parts.js';
import { hang, type Receiver, startReceiver } from '../../world/receiver/receiver.js';
import { createMerchant, migrateByCommand } from '../../world/shop/create-merchant.js';
import { Client } from './client.js';
import { type HostileServer, startHostileChain, startHostileHosts } from './hostile-servers.js';
import { type ImageHosts, startImageHosts } from './image-hosts.js';
import { startMeasured } from './measured-process.js';

/** A web and a worker process with production limits, a heavy account and its neighbour. */
export interface WeightSystem {
  processes: readonly StartedProcess[];
  url: string;
  db: pg.Client;
  heavy: Merchant;
  neighbourKey: string;
  images: ImageHosts;
  /** Every wallet holds enough of every token. */
  rpc: RpcEndpoint;
  /** A receiver that never answers. */
  deadReceiver: Receiver;
  /** Receivers of webhooks and hosts of images that answer without end. */
  hostileHosts: HostileServer;
  /** A client with this source address. */
  visitor(address: string): Client;
}

export interface Merchant {
  accountId: string;
  client: Client;
}

const SOLANA_DEVNET = { caip2: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' };
const PLENTY = 10n ** 15n;

export async function openWeightSystem(folder: string, parts: Parts): Promise<WeightSystem> {
  const { keep } = parts;
  const [postgres, redis, facilitator, images, rpc, hostileHosts, hostileChain] = await Promise.all([
    startTestPostgres().then(keep),
    startTestRedis().then(keep),
    startFacilitator().then(keep),
    startImageHosts().then(keep),
    RpcEndpoint.start(solanaBalances(SOLANA_DEVNET, () => PLENTY)).then(keep),
    startHostileHosts().then(keep),
    startHostileChain().then(keep),
  ]);
  const deadReceiver = keep(await startReceiver());
  deadReceiver.react(hang);
  const certificate = path.join(folder, 'image-hosts.pem');
  await writeFile(certificate, SELF_SIGNED.cert);
  const port = await findFreePort();
  const environment = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    FACILITATOR_URL: facilitator.url,
    RPC_URL_SOLANA_DEVNET: rpc.url,
    RPC_URL_EIP155_84532: hostileChain.url,
    BASE_URL: 'https://pay.example',
    PORT: String(port),
    TRUST_PROXY: '1',
    ADMIN_PASSWORD: randomBytes(32).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    NODE_EXTRA_CA_CERTS: certificate,
  };
  await migrateByCommand(environment);
  const db = new pg.Client({ connectionString: postgres.url });
  await db.connect();
  keep({ stop: () => db.end() });
  const processes = (['web', 'worker'] as const).map((name) => startMeasured(name, folder, environment));
  for (const one of processes) keep({ stop: () => one.kill() });
  const url = `http://127.0.0.1:${port}`;
  const visitor = (address: string, headers: Record<string, string> = {}): Client => {
    return keep(new Client(url, { 'X-Forwarded-For': address, ...headers }));
  };
  const { accountId, key } = await createMerchant('Heavy', environment);
  const heavy = { accountId, client: visitor('192.0.2.1', { Authorization: `Bearer ${key}` }) };
  const { key: neighbourKey } = await createMerchant('Light', environment);
  await untilReady(visitor('203.0.113.1'));
  return { processes, url, db, heavy, neighbourKey, images, rpc, deadReceiver, hostileHosts, visitor };
}

async function untilReady(client: Client): Promise<void> {
  await eventually(async () => assert.equal((await client.send('/readyz')).status, 200));
}
