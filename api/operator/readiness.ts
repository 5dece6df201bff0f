import { isClockOff } from '../../shared/db/follow-clock.js';
import { shareAnswers } from '../../shared/limits/share-answers.js';
import { TimedOut, waitAtMost, withTimeout } from '../../shared/process/timeout.js';
import { pendingMigrations } from '../../shared/schema/migration-files.js';
import { type DatabaseState, databaseState, probeWriting } from '../../shared/upkeep/write-probe.js';
import type { Deps } from '../deps/deps.js';

/**
 * A process is ready when Postgres accepts writes and has all migrations. The queue store is not required, since
 * payments work without it; a wrong clock is only reported.
 */
export interface Readiness {
  ready: boolean;
  answer: object;
}

interface Database {
  database: DatabaseState;
  migrations: 'ok' | 'behind' | 'unknown';
}

/** Load balancers wait two seconds or more. */
const ANSWER_WITHIN_MS = 1500;
/** Checks are shared by all requests within this time. */
const CACHED_MS = 1000;
/**
 * A check that times out within this time of a good one counts as good: busy connections do not mean that Postgres
 * is down.
 */
const GRACE_MS = 10_000;
const ALL_OK: Database = { database: 'ok', migrations: 'ok' };

export function openReadiness(deps: Deps): () => Promise<Readiness> {
  const { lifecycle, installation } = deps;
  const askShared = shareAnswers<Database>({ forMs: CACHED_MS, keys: 1 });
  const askStore = shareAnswers<StoreState>({ forMs: CACHED_MS, keys: 1 });
  let wasOkAtMs = Number.NEGATIVE_INFINITY;

  const askDatabase = async (): Promise<Database> => {
    const found = await readDatabase(deps);
    if (found !== 'timeout') {
      if (found.database === 'ok' && found.migrations === 'ok') wasOkAtMs = performance.now();
      return found;
    }
    if (performance.now() - wasOkAtMs < GRACE_MS) return ALL_OK;
    return { database: 'down', migrations: 'unknown' };
  };

  return async () => {
    const [database, store] = await Promise.all([
      askShared('', askDatabase),
      askStore('', () => queueStoreState(deps)),
    ]);
    const serves = database.database === 'ok' && database.migrations === 'ok';
    const status = serves ? 'ready' : 'not_ready';
    return {
      ready: serves && !lifecycle.isStopping,
      answer: {
        status: lifecycle.isStopping ? 'stopping' : status,
        ...(store !== 'ok' && { degraded: 'queue store' }),
        ...database,
        queue_store: store,
        clock: isClockOff() ? 'off' : 'ok',
        ...(installation.others().length > 0 && { redis: 'shared' }),
      },
    };
  };
}

async function readDatabase({ probeDb: db }: Deps): Promise<Database | 'timeout'> {
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
    return await withTimeout(ANSWER_WITHIN_MS, read());
  } catch (error) {
    if (error instanceof TimedOut) return 'timeout';
    return { database: databaseState(error), migrations: 'unknown' };
  }
}

/** `not_writable`: Redis answers a write with an error, because it is full or a replica. */
type StoreState = 'ok' | 'down' | 'not_writable';

async function queueStoreState({ queues, breaker }: Deps): Promise<StoreState> {
  if (breaker?.isOpen()) return 'down';
  try {
    return (await waitAtMost(ANSWER_WITHIN_MS, queues.check())) ? 'ok' : 'down';
  } catch (error) {
    return error instanceof Error && error.name === 'ReplyError' ? 'not_writable' : 'down';
  }
}
