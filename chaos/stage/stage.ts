import path from 'node:path';
import { nowMs } from '../../shared/clock.js';
import { TcpProxy } from '../../test/support/pause-points.js';
import { findFreePort } from '../../test/support/services.js';
import type {
  Answer,
  BuyersEntry,
  EndpointEntry,
  FacilitatorEntry,
  FaultEntry,
  Received,
  Transfer,
} from '../actors/entries.js';
import { Journal } from '../actors/journal.js';
import { ActorProcess } from './actor-process.js';
import { runCommand } from './command.js';
import { PostgresStore } from './postgres-store.js';
import { RedisStore } from './redis-store.js';
import { ServiceProcess, type ServiceProcessOptions } from './service-process.js';

/** The whole service, with all who act on it from outside: what a run of chaos happens to. */
export interface Stage {
  webs: readonly string[];
  key: string;
  metricsToken: string;
  services: readonly ServiceProcess[];
  postgres: PostgresStore;
  redis: RedisStore;
  facilitatorProxy: TcpProxy;
  buyers: ActorProcess;
  facilitator: ActorProcess;
  chain: ActorProcess;
  receiver: ActorProcess;
  hooksUrl: string;
  journals: Journals;
}

export interface Journals {
  buyers: Journal<BuyersEntry>;
  facilitator: Journal<FacilitatorEntry>;
  chain: Journal<Transfer>;
  receiver: Journal<Received>;
  faults: Journal<FaultEntry>;
  endpoints: Journal<EndpointEntry | Answer>;
}

export interface StageOptions {
  folder: string;
  seed: number;
  payments: number;
  /** Whatever is started is given here at once, to be stopped in the opposite order. */
  opened(part: { stop(): Promise<void> }): void;
}

interface Acting {
  actor: ActorProcess;
  /** What it said when it was ready. */
  said: Record<string, unknown>;
}

export const STEADY_ENDPOINT = 'steady';
const CHAIN_ID = 84_532;
const WALLET = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720';
const ENDS = { starting: 'did not start', 'at work': 'ended by itself', stopping: 'stopped badly' };
const METRICS_TOKEN = 'chaos-metrics';

export async function openStage({ folder, seed, payments, opened }: StageOptions): Promise<Stage> {
  const journalFile = (name: string): string => path.join(folder, `${name}.jsonl`);
  const journals: Journals = {
    buyers: new Journal(journalFile('buyers')),
    facilitator: new Journal(journalFile('facilitator')),
    chain: new Journal(journalFile('chain')),
    receiver: new Journal(journalFile('receiver')),
    faults: new Journal(journalFile('faults')),
    endpoints: new Journal(journalFile('endpoints')),
  };
  const keep = <T extends { stop(): Promise<void> }>(part: T): T => {
    opened(part);
    return part;
  };
  const act = async (name: string, settings: object): Promise<Acting> => {
    const actor = keep(ActorProcess.start(name, folder, { ...settings, seed, journal: journalFile(name) }));
    return { actor, said: await actor.told('ready') };
  };
  const [postgres, redis, chain, receiver] = await Promise.all([
    PostgresStore.start(path.join(folder, 'postgres')).then(keep),
    RedisStore.start().then(keep),
    act('chain', { chainId: CHAIN_ID }),
    act('receiver', { steady: STEADY_ENDPOINT }),
  ]);
  const facilitator = await act('facilitator', {
    network: `eip155:${CHAIN_ID}`,
    chain: chain.said.transfers,
  });
  const { hostname, port } = new URL(String(facilitator.said.url));
  const facilitatorProxy = await TcpProxy.start({ host: hostname, port: Number(port) });
  keep({ stop: () => facilitatorProxy.refuse() });

  await runCommand(['dist/shared/db/migrate.js'], { DATABASE_URL: postgres.url, REDIS_URL: redis.url });
  const key = await createMerchant(postgres.url);
  const ports = [await findFreePort(), await findFreePort()];
  const webs = ports.map((each) => `http://127.0.0.1:${each}`);
  const environment = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    FACILITATOR_URL: `http://127.0.0.1:${facilitatorProxy.port}`,
    RPC_URL_EIP155_84532: String(chain.said.rpc),
    BASE_URL: 'https://pay.example',
    ENCRYPTION_KEY: Buffer.alloc(32, seed % 256).toString('base64'),
    FACILITATOR_TIMEOUT_MS: '2000',
    FACILITATOR_SETTLE_TIMEOUT_MS: '4000',
    SETTLE_WAIT_MS: '4000',
    RATE_LIMIT_API_PER_SECOND: '100000',
    RATE_LIMIT_LINK_PER_MINUTE: '1000000',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    METRICS_TOKEN,
  };
  const service = (name: string, entry: string, more: Record<string, string> = {}): ServiceProcess => {
    const onEnd: ServiceProcessOptions['onEnd'] = (detail, was) =>
      journals.faults.write({ at: nowMs(), fault: ENDS[was], detail: `${name}: ${detail}` });
    return keep(new ServiceProcess({ name, entry, environment: { ...environment, ...more }, folder, onEnd }));
  };
  const services = [
    ...ports.map((each, index) => service(`web-${index + 1}`, 'api/server.js', { PORT: String(each) })),
    ...[1, 2].map((number) => service(`worker-${number}`, 'workers/main.js')),
  ];
  await Promise.all(services.map((each) => each.ready()));
  const { actor: buyers } = await act('buyers', { payments, webs, key });
  return {
    webs,
    key,
    metricsToken: METRICS_TOKEN,
    services,
    postgres,
    redis,
    facilitatorProxy,
    buyers,
    facilitator: facilitator.actor,
    chain: chain.actor,
    receiver: receiver.actor,
    hooksUrl: String(receiver.said.url),
    journals,
  };
}

async function createMerchant(databaseUrl: string): Promise<string> {
  const args = ['local/merchants.mjs', 'create', '--name', 'Chaos shop', '--evm', WALLET, '--json'];
  const { keys }: { keys: { test: string } } = JSON.parse(
    await runCommand(args, { DATABASE_URL: databaseUrl }),
  );
  return keys.test;
}
