import { isClockOff } from '../../shared/db/follow-clock.js';
import { askSeldom } from '../../shared/limits/shared-answer.js';
import { TookTooLong, waitAtMost, within } from '../../shared/process/within.js';
import { pendingMigrations } from '../../shared/schema/migration-files.js';
import { type DatabaseState, databaseState, probeWriting } from '../../shared/upkeep/write-probe.js';
import type { Deps } from '../deps/deps.js';

/**
 * Whether this process can serve: Postgres takes writes, and has the tables. Payments survive without the queue store, so
 * that it is away takes nobody out of service; and of a wrong clock one need only be told.
 */
export interface Readiness {
  ready: boolean;
  answer: object;
}

interface Database {
  database: DatabaseState;
  migrations: 'ok' | 'behind' | 'unknown';
}

/** Balancers wait two seconds and more. */
const ANSWER_WITHIN_MS = 1500;
/** However many ask. */
const REMEMBERED_MS = 1000;
/** Whoever waits for one of many busy connections is not without Postgres. */
const GOOD_FOR_MS = 10_000;
const ALL_OK: Database = { database: 'ok', migrations: 'ok' };

export function openReadiness(deps: Deps): () => Promise<Readiness> {
  const { lifecycle } = deps;
  const seldom = askSeldom<Database>({ forMs: REMEMBERED_MS, keys: 1 });
  const storeSeldom = askSeldom<boolean>({ forMs: REMEMBERED_MS, keys: 1 });
  let wasOkAtMs = Number.NEGATIVE_INFINITY;

  const askDatabase = async (): Promise<Database> => {
    const found = await readDatabase(deps);
    if (found !== 'silent') {
      if (found.database === 'ok' && found.migrations === 'ok') wasOkAtMs = performance.now();
      return found;
    }
    if (performance.now() - wasOkAtMs < GOOD_FOR_MS) return ALL_OK;
    return { database: 'down', migrations: 'unknown' };
  };

  return async () => {
    const [database, hasStore] = await Promise.all([
      seldom('', askDatabase),
      storeSeldom('', () => hasQueueStore(deps)),
    ]);
    const serves = database.database === 'ok' && database.migrations === 'ok';
    const word = serves ? 'ready' : 'not_ready';
    return {
      ready: serves && !lifecycle.isStopping,
      answer: {
        status: lifecycle.isStopping ? 'stopping' : word,
        ...(!hasStore && { degraded: 'queue store' }),
        ...database,
        queue_store: hasStore ? 'ok' : 'down',
        clock: isClockOff() ? 'off' : 'ok',
      },
    };
  };
}

async function readDatabase({ db }: Deps): Promise<Database | 'silent'> {
  const read = async (): Promise<Database> => {
    const pending = await pendingMigrations(db);
    if (pending.length > 0) return { database: 'ok', migrations: 'behind' };
    try {
      await probeWriting(db);
      return ALL_OK;
    } catch (error) {
      return { database: databaseState(error), migrations: 'ok' };
    }
  };
  try {
    return await within(ANSWER_WITHIN_MS, read());
  } catch (error) {
    if (error instanceof TookTooLong) return 'silent';
    return { database: databaseState(error), migrations: 'unknown' };
  }
}

async function hasQueueStore({ queues, breaker }: Deps): Promise<boolean> {
  if (breaker?.isOpen()) return false;
  return await waitAtMost(ANSWER_WITHIN_MS, queues.check()).catch(() => false);
}
