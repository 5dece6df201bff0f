import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import type { GuardedProcess } from '../../../local/toolchain/guarded-process.js';
import { findFreePort } from '../http/listen.js';
import { eventually } from './eventually.js';
import { SELF_SIGNED } from './self-signed.js';
import { redisAddress, runRedis, spawnRedis, type TlsFiles } from './services.js';

/** Redis servers that form one deployment: data nodes and sentinels. They end with the process that started them. */
export interface RedisNode {
  port: number;
  client: Redis;
  /** Kills the server at once, like a machine that loses power. */
  kill(): Promise<void>;
}

export interface RedisNodes {
  /** A URL that names several nodes begins with it. */
  scheme: 'redis' | 'rediss';
  /** `settings` override the settings of every throwaway server. */
  start(settings?: Record<string, string | number>): Promise<RedisNode>;
  startSentinel(master: RedisNode, name: string): Promise<RedisNode>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';

/** `tls`: they accept nothing else, from one another either, with a certificate that they sign themselves. */
export async function openRedisNodes({ tls = false } = {}): Promise<RedisNodes> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'stablecoin-checkout-redis-'));
  const files = tls ? await writeCertificate(folder) : undefined;
  const encryption = tls ? { 'tls-replication': 'yes', 'tls-cluster': 'yes' } : {};
  const processes: GuardedProcess[] = [];
  const clients: Redis[] = [];

  function open(port: number, running: GuardedProcess): RedisNode {
    processes.push(running);
    const client = new Redis(port, HOST, {
      retryStrategy: () => 50,
      maxRetriesPerRequest: null,
      ...(tls && { tls: { rejectUnauthorized: false } }),
    });
    client.on('error', () => undefined); // Expected when it is killed.
    clients.push(client);
    return {
      port,
      client,
      async kill() {
        const [, pid] = /process_id:(\d+)/.exec(await client.info('server')) ?? [];
        client.disconnect();
        process.kill(Number(pid), 'SIGKILL');
        await running.exited;
      },
    };
  }

  return {
    scheme: tls ? 'rediss' : 'redis',
    async start(settings = {}) {
      const port = await findFreePort();
      const own = { ...encryption, dir: folder, 'repl-diskless-sync-delay': 0 };
      return open(port, await spawnRedis(port, files, { ...own, ...settings }));
    },
    async startSentinel(master, name) {
      const port = await findFreePort();
      const file = path.join(folder, `sentinel-${port}.conf`);
      const lines = [
        ...Object.entries({ ...redisAddress(port, files), ...encryption }).map((setting) =>
          setting.join(' '),
        ),
        `dir ${folder}`,
        `sentinel monitor ${name} ${HOST} ${master.port} 2`,
        `sentinel down-after-milliseconds ${name} 500`,
        `sentinel failover-timeout ${name} 3000`,
      ];
      await writeFile(file, `${lines.join('\n')}\n`);
      return open(port, await runRedis([file, '--sentinel']));
    },
    async stop() {
      for (const client of clients) client.disconnect();
      await Promise.all(processes.map((running) => running.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function writeCertificate(folder: string): Promise<TlsFiles> {
  const files = { cert: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem') };
  await writeFile(files.cert, SELF_SIGNED.cert);
  await writeFile(files.key, SELF_SIGNED.key);
  return files;
}

const SLOTS = 16_384;
const MASTERS = 3;

interface RedisCluster {
  url: string;
  /** The master that holds this key; `copy` is its replica. */
  doomed: RedisNode;
  copy: RedisNode;
  nodes: RedisNode[];
}

/** Starts three masters, and a replica of the master that holds this key. */
export async function formCluster(nodes: RedisNodes, key: string): Promise<RedisCluster> {
  const started = await Promise.all(Array.from({ length: MASTERS + 1 }, () => startClusterNode(nodes)));
  const [first, second, third, copy] = started;
  if (first === undefined || second === undefined || third === undefined || copy === undefined)
    throw new Error('too few nodes');
  const masters = [first, second, third];
  await Promise.all(
    masters.map(({ client }, index) => {
      const [from, to] = [index, index + 1].map((part) => Math.floor((part * SLOTS) / MASTERS));
      return client.call('CLUSTER', 'ADDSLOTSRANGE', `${from}`, `${Number(to) - 1}`);
    }),
  );
  for (const { port, busPort } of started.slice(1))
    await first.client.call('CLUSTER', 'MEET', HOST, `${port}`, `${busPort}`);
  await eventually(async () => {
    for (const { client } of started) await requireNodes(client, started.length);
  });
  const slot = Number(await first.client.call('CLUSTER', 'KEYSLOT', key));
  const doomed = masters[Math.floor((slot * MASTERS) / SLOTS)] ?? first;
  const id = String(await doomed.client.call('CLUSTER', 'MYID'));
  await copy.client.call('CLUSTER', 'REPLICATE', id);
  await eventually(async () => {
    if (!/master_link_status:up/.test(await copy.client.info('replication'))) throw new Error('no copy yet');
    for (const { client } of masters) await requireReady(client);
  });
  const url = `${nodes.scheme}+cluster://${masters.map(({ port }) => `${HOST}:${port}`).join(',')}`;
  return { url, doomed, copy, nodes: started };
}

async function startClusterNode(nodes: RedisNodes): Promise<RedisNode & { busPort: number }> {
  const busPort = await findFreePort();
  const node = await nodes.start({
    'cluster-enabled': 'yes',
    'cluster-config-file': `nodes-${busPort}.conf`,
    'cluster-port': busPort,
    'cluster-node-timeout': 1000,
    // A replica that is slightly behind takes over all the same.
    'cluster-replica-validity-factor': 0,
  });
  return { ...node, busPort };
}

async function requireNodes(client: Redis, count: number): Promise<void> {
  const info = String(await client.call('CLUSTER', 'INFO'));
  if (!info.includes(`cluster_known_nodes:${count}`)) throw new Error('they do not know each other yet');
}

/** Requires that the node knows every slot, and the replica. */
async function requireReady(client: Redis): Promise<void> {
  const info = String(await client.call('CLUSTER', 'INFO'));
  const lines = String(await client.call('CLUSTER', 'NODES'));
  if (!info.includes('cluster_state:ok') || !/\bslave\b/.test(lines)) throw new Error('not ready yet');
}

export async function isMaster({ client }: RedisNode): Promise<boolean> {
  return /role:master/.test(await client.info('replication'));
}
