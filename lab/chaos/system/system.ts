import path from 'node:path';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { createMerchant, migrateByCommand } from '../../world/shop/create-merchant.js';
import type { ChaosOptions, RunContext } from '../command/options.js';
import { type Journals, openJournals } from '../journals/open-journals.js';
import type { Web } from '../purchases/service-client.js';
import { newKeypair } from '../wallets/wallets.js';
import { Links } from './links.js';
import { PostgresStore } from './postgres-store.js';
import { RedisStore } from './redis-store.js';
import { SERVICE_NAMES, type ServiceProcess, startServices } from './service-process.js';
import { METRICS_TOKEN, serviceVariables } from './service-variables.js';
import { type ActorProcess, type StartedActor, startActor } from './start-actor.js';

/** The whole service with all actors: the system that a run of chaos injects faults into. */
export interface System {
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
  /** The environment of a command of the operator, which no fault reaches. */
  operator(): Record<string, string>;
}

export const STEADY_ENDPOINT = 'steady';
const CHAIN_ID = 84_532;
const SOLANA = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const SOLANA_USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
/** The number of payments that the busy wallet has made before the first purchase. */
const BUSY_BEFORE = 10_000;
/** Few enough for calls to queue while answers are lost. */
const CALLS_PER_SECOND = 20;
const MERCHANT_KEY = generatePrivateKey();
const WALLETS = {
  evm: privateKeyToAddress(MERCHANT_KEY),
  solana: newKeypair().publicKey.toBase58(),
};

export async function openSystem(options: ChaosOptions, { folder, parts }: RunContext): Promise<System> {
  const { seed, payments, solana } = options;
  const callsPerSecond = options.limits ? CALLS_PER_SECOND : undefined;
  const journals = openJournals(folder);
  const start = (name: string, settings: object): Promise<StartedActor> =>
    startActor(name, folder, { seed, ...settings }, parts);
  const busyBefore = solana > 0 ? BUSY_BEFORE : 0;
  const [postgres, redis, evmChain, solanaChain, receiver] = await Promise.all([
    PostgresStore.start(path.join(folder, 'postgres')).then(parts.keep),
    RedisStore.start().then(parts.keep),
    start('chain', { chainId: CHAIN_ID, callsPerSecond }),
    start('solana', {
      network: SOLANA,
      asset: SOLANA_USDC,
      payTo: WALLETS.solana,
      busyBefore,
      callsPerSecond,
    }),
    start('receiver', { steady: STEADY_ENDPOINT }),
  ]);
  const chains = { [`eip155:${CHAIN_ID}`]: evmChain.said.transfers, [SOLANA]: solanaChain.said.transfers };
  const facilitator = await start('facilitator', { chains });
  const facilitatorUrl = String(facilitator.said.url);
  const links = parts.keep(
    await Links.open(SERVICE_NAMES, {
      Postgres: postgres.directUrl,
      Redis: redis.url,
      'the facilitator': facilitatorUrl,
      'the EVM chain': String(evmChain.said.rpc),
      'the Solana chain': String(solanaChain.said.rpc),
    }),
  );
  const variablesOf = serviceVariables(seed, links, facilitatorUrl);
  const first = variablesOf(SERVICE_NAMES[0] ?? '');
  await migrateByCommand(first);
  const { key } = await createMerchant('Chaos shop', first, WALLETS);
  if (options.clocks) await postgres.makeClockSettable();
  const { services, webs } = await startServices({
    folder,
    faults: journals.faults,
    variablesOf,
    parts,
  });
  const { blockhashes } = solanaChain.said;
  const { actor: buyers } = await start('buyers', {
    ...{ payments, webs, key, solana, blockhashes },
    ...(options.alike && { alikeWith: MERCHANT_KEY }),
  });
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
    operator: () => ({
      ...first,
      DATABASE_URL: postgres.directUrl,
      REDIS_URL: redis.url,
      RPC_URL_EIP155_84532: String(evmChain.said.rpc),
      RPC_URL_SOLANA_DEVNET: String(solanaChain.said.rpc),
    }),
  };
}
