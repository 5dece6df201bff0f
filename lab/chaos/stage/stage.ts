import type net from 'node:net';
import path from 'node:path';
import type { Web } from '../actors/service-client.js';
import { newKeypair } from '../actors/wallets.js';
import { type Acting, act, type Journals, openJournals } from './acting.js';
import type { ActorProcess } from './actor-process.js';
import { runCommand } from './command.js';
import { Links } from './links.js';
import { PostgresStore } from './postgres-store.js';
import { RedisStore } from './redis-store.js';
import { METRICS_TOKEN, serviceEnvironments } from './service-environment.js';
import type { ServiceProcess } from './service-process.js';
import { SERVICE_NAMES, startServices } from './start-services.js';

/** The whole service, with all who act on it from outside: what a run of chaos happens to. */
export interface Stage {
  webs: readonly Web[];
  key: string;
  metricsToken: string;
  services: readonly ServiceProcess[];
  postgres: PostgresStore;
  redis: RedisStore;
  links: Links;
  buyers: ActorProcess;
  facilitator: ActorProcess;
  chains: { evm: ActorProcess; solana: ActorProcess };
  receiver: ActorProcess;
  hooksUrl: string;
  journals: Journals;
}

export interface StageOptions {
  folder: string;
  seed: number;
  payments: number;
  /** The share of buyers who pay on Solana. */
  solana: number;
  /** Whatever is started is given here at once, to be stopped in the opposite order. */
  opened(part: { stop(): Promise<void> }): void;
}

export const STEADY_ENDPOINT = 'steady';
const CHAIN_ID = 84_532;
const SOLANA = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const SOLANA_USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
/** What the busy wallet had paid the merchant before the first purchase. */
const BUSY_BEFORE = 10_000;
const WALLETS = {
  evm: '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
  solana: newKeypair().publicKey.toBase58(),
};

export async function openStage({ folder, seed, payments, solana, opened }: StageOptions): Promise<Stage> {
  const journals = openJournals(folder);
  const keep = <T extends { stop(): Promise<void> }>(part: T): T => {
    opened(part);
    return part;
  };
  const start = (name: string, settings: object): Promise<Acting> =>
    act(name, folder, { seed, ...settings }, opened);
  const busyBefore = solana > 0 ? BUSY_BEFORE : 0;
  const [postgres, redis, evmChain, solanaChain, receiver] = await Promise.all([
    PostgresStore.start(path.join(folder, 'postgres')).then(keep),
    RedisStore.start().then(keep),
    start('chain', { chainId: CHAIN_ID }),
    start('solana', { network: SOLANA, asset: SOLANA_USDC, payTo: WALLETS.solana, busyBefore }),
    start('receiver', { steady: STEADY_ENDPOINT }),
  ]);
  const chains = { [`eip155:${CHAIN_ID}`]: evmChain.said.transfers, [SOLANA]: solanaChain.said.transfers };
  const facilitator = await start('facilitator', { chains });
  const links = keep(
    await Links.open(SERVICE_NAMES, {
      Postgres: postgres.address,
      Redis: redis.address,
      'the facilitator': addressOf(facilitator.said.url),
      'the EVM chain': addressOf(evmChain.said.rpc),
      'the Solana chain': addressOf(solanaChain.said.rpc),
    }),
  );
  const environmentOf = serviceEnvironments(seed, postgres, links);
  const key = await prepare(environmentOf(SERVICE_NAMES[0] ?? ''));
  const { services, webs } = await startServices({
    folder,
    faults: journals.faults,
    environmentOf,
    opened,
  });
  const { blockhashes } = solanaChain.said;
  const { actor: buyers } = await start('buyers', { payments, webs, key, solana, blockhashes });
  return {
    webs,
    key,
    metricsToken: METRICS_TOKEN,
    services,
    postgres,
    redis,
    links,
    buyers,
    facilitator: facilitator.actor,
    chains: { evm: evmChain.actor, solana: solanaChain.actor },
    receiver: receiver.actor,
    hooksUrl: String(receiver.said.url),
    journals,
  };
}

/** The tables, and a merchant, whose key it gives. */
async function prepare({ DATABASE_URL = '', REDIS_URL = '' }: Record<string, string>): Promise<string> {
  await runCommand(['dist/shared/migrate.js'], { DATABASE_URL, REDIS_URL });
  const wallets = ['--evm', WALLETS.evm, '--solana', WALLETS.solana];
  const args = ['local/commands/merchants.mjs', 'create', '--name', 'Chaos shop', ...wallets, '--json'];
  const { keys }: { keys: { test: string } } = JSON.parse(await runCommand(args, { DATABASE_URL }));
  return keys.test;
}

function addressOf(url: unknown): net.NetConnectOpts {
  const { hostname, port } = new URL(String(url));
  return { host: hostname, port: Number(port) };
}
