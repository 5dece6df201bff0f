import { createHash, randomUUID } from 'node:crypto';
import type { FacilitatorConfig } from '../config/config.js';
import type { Knex } from '../db/knex.js';
import type { Breaker } from '../limits/breaker.js';
import { openLine } from '../limits/line.js';
import { ownPace } from '../limits/pace.js';
import {
  type CallerKind,
  type Callers,
  ONE_OF_EACH,
  shareOfCalls,
  shareOfConnections,
} from '../limits/share.js';
import { sharedPace } from '../limits/shared-pace.js';
import type { Logger } from '../process/logger.js';
import { waitAtMost } from '../process/within.js';
import type { RedisClient } from '../queues/connection.js';
import { QUEUE_PREFIX } from '../queues/queue-settings.js';
import { countCallers, leaveCallers } from '../upkeep/facilitator-callers.js';
import { CONNECTIONS, createFacilitator, type Facilitator } from '../x402/facilitator.js';

/**
 * The facilitator within its limits. Turns are given by Redis, to all processes in their order; without it each process
 * takes its share of them. Of the connections each has its share in any case. How many processes there are Postgres knows.
 */
export interface Stores {
  db: Knex;
  redis: RedisClient | undefined;
  breaker: Breaker | undefined;
}

const COUNTED_EVERY_MS = 2000;
const LEFT_WITHIN_MS = 500;

export function openFacilitator(
  config: FacilitatorConfig,
  kind: CallerKind,
  stores: Stores,
  logger: Logger,
): Facilitator {
  const { maxConnections, maxPerSecond } = config;
  const hasLimits = maxConnections !== undefined || maxPerSecond !== undefined;
  const callers = hasLimits ? followCallers(stores.db, kind) : NOBODY_ELSE;
  const intervalMs = maxPerSecond === undefined ? undefined : intervalOf(maxPerSecond);
  const alone = ownPace(() => (intervalMs ?? 0) / shareOfCalls(kind, callers.known()));
  const { redis, breaker } = stores;
  const ask = (script: string, key: string, values: readonly number[]): Promise<unknown> =>
    redis === undefined ? Promise.reject(new Error('no Redis')) : redis.eval(script, 1, key, ...values);
  const store = {
    run: (script: string, key: string, ...values: number[]) =>
      breaker === undefined ? ask(script, key, values) : breaker.run(() => ask(script, key, values)),
  };
  const pace = redis === undefined ? alone : sharedPace({ store, key: turnsKey(config), intervalMs, alone });
  const places = (): number =>
    maxConnections === undefined ? CONNECTIONS : shareOfConnections(maxConnections, kind, callers.known());
  const facilitator = createFacilitator(config, { line: openLine({ pace, places }), logger });
  return {
    ...facilitator,
    async close() {
      await Promise.all([facilitator.close(), callers.close()]);
    },
  };
}

/** One key for all that is kept of its turns, so that one node of a cluster has it. */
function turnsKey({ url }: FacilitatorConfig): string {
  return `${QUEUE_PREFIX}:facilitator:${createHash('sha256').update(url).digest('hex').slice(0, 16)}`;
}

/** A little longer than it must be: two calls may come nearer to each other on their way. */
function intervalOf(perSecond: number): number {
  return 1020 / perSecond;
}

interface KnownCallers {
  known(): Callers;
  close(): Promise<void>;
}

const NOBODY_ELSE: KnownCallers = { known: () => ONE_OF_EACH, close: async () => undefined };

/** While Postgres cannot be asked, who was there last counts. */
function followCallers(db: Knex, kind: CallerKind): KnownCallers {
  const self = { id: randomUUID(), kind };
  let known = ONE_OF_EACH;
  let counting: Promise<void> | undefined;
  const count = async (): Promise<void> => {
    known = await countCallers(db, self).catch(() => known);
    counting = undefined;
  };
  const begin = (): void => {
    counting ??= count();
  };
  const timer = setInterval(begin, COUNTED_EVERY_MS);
  begin();
  return {
    known: () => known,
    async close() {
      clearInterval(timer);
      await counting;
      // One that leaves without a word is counted a little longer.
      await waitAtMost(LEFT_WITHIN_MS, leaveCallers(db, self)).catch(() => undefined);
    },
  };
}
