import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { EvmChain } from '../../world/chains/evm-chain.js';
import { type FakeFacilitator, startFacilitator } from '../../world/facilitator/facilitator.js';
import { runCommand, startWebProcess, startWorkerProcess } from '../../world/processes/processes.js';
import { startTestPostgres, startTestRedis } from '../../world/processes/services.js';

/** A web and a worker process, two facilitators and three chains. Both serve the first network, each one of the others. */
export interface System {
  url: string;
  db: pg.Pool;
  /** The merchant's API key. */
  key: string;
  facilitators: readonly [FakeFacilitator, FakeFacilitator];
  /** The facilitators that serve each network. */
  servedBy: ReadonlyMap<string, readonly FakeFacilitator[]>;
  /** Authorizations with which money moved more than once. */
  movedTwice: string[];
}

const NETWORKS = { both: 84_532, first: 1952, second: 80_002 };
const BLOCK_MS = 1000;
const WALLET = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720';

export async function openSystem(opened: (part: { stop(): Promise<void> }) => void): Promise<System> {
  const keep = <T extends { stop(): Promise<void> }>(part: T): T => {
    opened(part);
    return part;
  };
  const [postgres, redis] = [keep(await startTestPostgres()), keep(await startTestRedis())];
  const chains = new Map<string, EvmChain>();
  for (const id of Object.values(NETWORKS)) {
    const chain = await EvmChain.start(id);
    const mining = setInterval(() => chain.mine(), BLOCK_MS);
    keep({
      async stop() {
        clearInterval(mining);
        await chain.close();
      },
    });
    chains.set(`eip155:${id}`, chain);
  }
  const moved = new Set<string>();
  const movedTwice: string[] = [];
  const start = async (...ids: number[]): Promise<FakeFacilitator> => {
    const facilitator = await startFacilitator({
      networks: ids.map((id) => `eip155:${id}`),
      onSettled({ network, asset, from, to, amount, paymentId, transaction }) {
        if (moved.has(paymentId)) movedTwice.push(paymentId);
        moved.add(paymentId);
        chains.get(network)?.movePayment({ asset, from, payTo: to, amount, nonce: paymentId }, transaction);
      },
    });
    keep({ stop: () => facilitator.close() });
    return facilitator;
  };
  const first = await start(NETWORKS.both, NETWORKS.first);
  const second = await start(NETWORKS.both, NETWORKS.second);
  const stores = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
  await runCommand(['dist/shared/migrate.js'], stores);
  const environment = {
    ...stores,
    FACILITATOR_URL: first.url,
    FACILITATOR_URL_2: second.url,
    FACILITATOR_AUTH: 'none',
    FACILITATOR_AUTH_2: 'none',
    FACILITATOR_TIMEOUT_MS: '2000',
    FACILITATOR_SETTLE_TIMEOUT_MS: '4000',
    SETTLE_WAIT_MS: '4000',
    BASE_URL: 'https://pay.example',
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    RATE_LIMIT_LINK_PER_MINUTE: '1000000',
    ...Object.fromEntries(
      [...chains].map(([network, chain]) => [
        `RPC_URL_${network.toUpperCase().replace(':', '_')}`,
        chain.endpoint.url,
      ]),
    ),
  };
  const [web, worker] = await Promise.all([startWebProcess(environment), startWorkerProcess(environment)]);
  for (const process of [web, worker]) keep({ stop: () => process.kill() });
  const db = new pg.Pool({ connectionString: postgres.url });
  keep({ stop: () => db.end() });
  return {
    url: `http://127.0.0.1:${web.port}`,
    db,
    key: await createMerchant(environment),
    facilitators: [first, second],
    servedBy: new Map([
      [`eip155:${NETWORKS.both}`, [first, second]],
      [`eip155:${NETWORKS.first}`, [first]],
      [`eip155:${NETWORKS.second}`, [second]],
    ]),
    movedTwice,
  };
}

async function createMerchant(environment: Record<string, string>): Promise<string> {
  const command = [
    'local/commands/merchants.mjs',
    'create',
    '--name',
    'Chaos shop',
    '--evm',
    WALLET,
    '--json',
  ];
  const { keys } = JSON.parse(await runCommand(command, environment));
  return keys.test;
}
