import { createHash, randomUUID } from 'node:crypto';
import type { FacilitatorConfig } from '../config/read-facilitators.js';
import type { Knex } from '../db/knex.js';
import type { Breaker } from '../limits/breaker.js';
import {
  type CallerKind,
  type Callers,
  ONE_OF_EACH,
  shareOfCalls,
  shareOfConnections,
} from '../limits/facilitator-shares.js';
import { openRateLimiter, type RateLimiter } from '../limits/rate-limiter.js';
import { openSharedRateLimiter } from '../limits/shared-rate-limiter.js';
import { openThrottle, type Throttle } from '../limits/throttle.js';
import type { Logger } from '../process/logger.js';
import { waitAtMost } from '../process/timeout.js';
import type { RedisClient } from '../queues/connection.js';
import { QUEUE_PREFIX } from '../queues/queue-settings.js';
import { countCallers, leaveCallers } from '../upkeep/facilitator-callers.js';
import { CONNECTIONS, createFacilitator } from '../x402/facilitator/facilitator.js';
import { type Facilitators, uniteFacilitators } from '../x402/facilitator/facilitators.js';

export interface FacilitatorStores {
  db: Knex;
  redis: RedisClient | undefined;
  breaker: Breaker | undefined;
}

const COUNT_INTERVAL_MS = 2000;
/** After this time the others have counted a new process, and have closed the idle connections of their old shares (4 s). */
const NEW_FOR_MS = COUNT_INTERVAL_MS + 5000;
/** After a failover Postgres knows none of the processes until each registers again: one count does not make a share grow. */
const COUNTS = 4;
const LEAVE_TIMEOUT_MS = 500;

/**
 * Opens the facilitators with the operator's limits. Redis paces the calls of all processes; without Redis each process
 * takes its share of the calls. Connections are always shared out. Postgres counts the processes.
 */
export function openFacilitators(
  configs: readonly FacilitatorConfig[],
  kind: CallerKind,
  stores: FacilitatorStores,
  logger: Logger,
): Facilitators {
  const hasLimits = configs.some(
    ({ maxConnections, maxPerSecond }) => maxConnections !== undefined || maxPerSecond !== undefined,
  );
  const throttles: Throttle[] = [];
  const useSlots = (): void => {
    for (const throttle of throttles) throttle.useSlots();
  };
  const callers = hasLimits ? followCallers(stores.db, kind, useSlots) : NO_OTHER_CALLERS;
  const hasOthers = configs.length > 1;
  const all = configs.map((config) => {
    const throttle = openOwnThrottle(config, kind, stores, callers);
    throttles.push(throttle);
    return createFacilitator(config, { throttle, logger, hasOthers });
  });
  const facilitators = uniteFacilitators(all, { timeoutMs: configs[0]?.timeoutMs ?? 0, logger });
  return {
    ...facilitators,
    async close() {
      await Promise.all([facilitators.close(), callers.close()]);
    },
  };
}

/** The throttle of one facilitator, since each has limits of its own. */
function openOwnThrottle(
  config: FacilitatorConfig,
  kind: CallerKind,
  { redis, breaker }: FacilitatorStores,
  callers: KnownCallers,
): Throttle {
  const { maxConnections, maxPerSecond } = config;
  const intervalMs = maxPerSecond === undefined ? undefined : intervalOf(maxPerSecond);
  const alone = openRateLimiter(() => (intervalMs ?? 0) / shareOfCalls(kind, callers.known()));
  const ask = (script: string, key: string, values: readonly number[]): Promise<unknown> =>
    redis === undefined ? Promise.reject(new Error('no Redis')) : redis.eval(script, 1, key, ...values);
  const store = {
    run: (script: string, key: string, ...values: number[]) =>
      breaker === undefined ? ask(script, key, values) : breaker.run(() => ask(script, key, values)),
  };
  const key = turnsKey(config);
  const rate = redis === undefined ? alone : openSharedRateLimiter({ store, key, intervalMs, alone });
  const slots = (): number => {
    if (maxConnections === undefined) return CONNECTIONS;
    return callers.isNew() ? 1 : shareOfConnections(maxConnections, kind, callers.known());
  };
  const openPauses = (name: string): RateLimiter => {
    const ownPauses = openRateLimiter(() => 0);
    const terms = { store, key: `${key}:${name}`, intervalMs: undefined, alone: ownPauses };
    return redis === undefined ? ownPauses : openSharedRateLimiter(terms);
  };
  return openThrottle({ rate, slots, openPauses });
}

/** A single key, so that the script works in a cluster. */
function turnsKey({ url, auth }: FacilitatorConfig): string {
  const caller = 'id' in auth ? `${url} ${auth.id}` : url;
  return `${QUEUE_PREFIX}:facilitator:${createHash('sha256').update(caller).digest('hex').slice(0, 16)}`;
}

/** 2 % longer than the limit requires, since network delays move calls closer together. */
function intervalOf(perSecond: number): number {
  return 1020 / perSecond;
}

interface KnownCallers {
  known(): Callers;
  /** Whether this process is not counted yet, or others of its kind may still use their shares from before it. */
  isNew(): boolean;
  close(): Promise<void>;
}

const NO_OTHER_CALLERS: KnownCallers = {
  known: () => ONE_OF_EACH,
  isNew: () => false,
  close: async () => undefined,
};

/** The most of the last counts. While Postgres is unavailable these are used. */
function followCallers(db: Knex, kind: CallerKind, whenShareMayHaveGrown: () => void): KnownCallers {
  const self = { id: randomUUID(), kind };
  let counts: readonly Callers[] = [];
  let newUntilMs = Infinity;
  let counting: Promise<void> | undefined;
  const count = async (): Promise<void> => {
    const counted = await countCallers(db, self).catch(() => undefined);
    counting = undefined;
    if (counted === undefined) return;
    if (counts.length === 0) newUntilMs = counted[kind] > 1 ? performance.now() + NEW_FOR_MS : 0;
    counts = [counted, ...counts].slice(0, COUNTS);
  };
  const begin = (): void => {
    whenShareMayHaveGrown();
    counting ??= count();
  };
  const timer = setInterval(begin, COUNT_INTERVAL_MS);
  begin();
  const most = (of: CallerKind): number => Math.max(ONE_OF_EACH[of], ...counts.map((count) => count[of]));
  return {
    known: () => ({ web: most('web'), worker: most('worker') }),
    isNew: () => performance.now() < newUntilMs,
    async close() {
      clearInterval(timer);
      await counting;
      // A failure is harmless: the row expires.
      await waitAtMost(LEAVE_TIMEOUT_MS, leaveCallers(db, self)).catch(() => undefined);
    },
  };
}
