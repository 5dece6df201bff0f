import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import { type FakeFacilitator, startFacilitator } from '../../world/facilitator/facilitator.js';
import { startWebProcess, startWorkerProcess } from '../../world/processes/processes.js';
import { startTestPostgres, startTestRedis } from '../../world/processes/services.js';
import type { Parts } from '../../world/program/parts.js';
import { createMerchant, migrateByCommand } from '../../world/shop/create-merchant.js';
import { SOLANA, startChains } from './chains.js';

/**
 * A web and a worker process, two facilitators, three EVM chains, and a Solana cluster when it is asked for. Both facilitators
 * serve the first network and Solana, each one of the others.
 */
export interface System {
  url: string;
  db: pg.Pool;
  /** The merchant's API key. */
  key: string;
  facilitators: readonly [FakeFacilitator, FakeFacilitator];
  /** The facilitators that serve each network. */
  servedBy: ReadonlyMap<string, readonly FakeFacilitator[]>;
  /** The newest blockhash of Solana. */
  issueBlockhash(): string;
  /** Authorizations with which money moved more than once. */
  movedTwice: string[];
}

const NETWORKS = { both: 84_532, first: 1952, second: 80_002 };

export async function openSystem(withSolana: boolean, parts: Parts): Promise<System> {
  const [postgres, redis] = [parts.keep(await startTestPostgres()), parts.keep(await startTestRedis())];
  const chains = await startChains(Object.values(NETWORKS), withSolana, parts);
  const moved = new Set<string>();
  const movedTwice: string[] = [];
  const start = async (...ids: number[]): Promise<FakeFacilitator> => {
    const facilitator = await startFacilitator({
      networks: [...ids.map((id) => `eip155:${id}`), ...(withSolana ? [SOLANA] : [])],
      onSettled(movement) {
        const { paymentId } = movement;
        if (moved.has(paymentId)) movedTwice.push(paymentId);
        else chains.move(movement, transactionOf(facilitator.callsOf('settle', paymentId).at(-1)?.body));
        moved.add(paymentId);
      },
    });
    return parts.keep(facilitator);
  };
  const first = await start(NETWORKS.both, NETWORKS.first);
  const second = await start(NETWORKS.both, NETWORKS.second);
  const stores = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
  await migrateByCommand(stores);
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
    ...chains.environment,
  };
  const [web, worker] = await Promise.all([startWebProcess(environment), startWorkerProcess(environment)]);
  for (const process of [web, worker]) parts.keep({ stop: () => process.kill() });
  const db = new pg.Pool({ connectionString: postgres.url });
  // `end` does not wait until its connections are closed: Postgres may stop first, and closes them itself.
  db.on('error', () => {});
  parts.keep({ stop: () => db.end() });
  return {
    url: `http://127.0.0.1:${web.port}`,
    db,
    key: (await createMerchant('Chaos shop', environment)).key,
    facilitators: [first, second],
    servedBy: new Map([
      [`eip155:${NETWORKS.both}`, [first, second]],
      [`eip155:${NETWORKS.first}`, [first]],
      [`eip155:${NETWORKS.second}`, [second]],
      ...(withSolana ? [[SOLANA, [first, second]] as const] : []),
    ]),
    issueBlockhash: chains.issueBlockhash,
    movedTwice,
  };
}

/** The transaction that the buyer has signed on Solana; empty for EVM networks. */
function transactionOf(body: unknown): string {
  const { payload } = (body as FacilitatorRequest).paymentPayload;
  return 'transaction' in payload ? payload.transaction : '';
}
