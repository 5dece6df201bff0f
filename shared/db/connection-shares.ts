import knexFactory from 'knex';
import { POOL_SHARES, POOL_WAITING, POOL_WAITING_OF_ACCOUNT } from '../limits/bounds.js';
import type { Release } from '../limits/budget.js';
import { type Concurrency, openConcurrency } from '../limits/concurrency.js';
import { lruCache } from '../limits/lru-cache.js';
import { Busy } from './busy.js';
import type { PostgresClient } from './idle-connection.js';
import type { Knex } from './knex.js';
import { type DialectConfig, PostgresDialect } from './postgres-dialect.js';

/**
 * Each account has a share of the pool's connections, so that requests of one account that wait for a row in Postgres leave
 * connections to the others. A request waits for its account's share in the process, before it takes a connection. Its
 * transactions wait for a lock only for a short time.
 */
export interface ConnectionShares {
  /** The database for requests of an account. */
  of(accountId: string): Knex;
}

/** A waiting request is refused after this time. */
const WAIT_MS = 5000;
/** How long a statement of a request's transaction waits for a lock. */
const LOCK_TIMEOUT_MS = 2500;
/** Handles without connections, some 20 KB each. */
const ACCOUNTS_KEPT = 500;

export function openConnectionShares(
  db: Knex,
  poolSize: number,
  { waitMs, lockTimeoutMs } = { waitMs: WAIT_MS, lockTimeoutMs: LOCK_TIMEOUT_MS },
): ConnectionShares {
  const root: PostgresDialect = db.client;
  const slots = openConcurrency({
    total: poolSize,
    perHolder: [Math.max(1, Math.floor(poolSize / POOL_SHARES))],
    waiting: { total: POOL_WAITING, perHolder: [POOL_WAITING_OF_ACCOUNT] },
    order: 'fewest in flight',
  });
  const handles = lruCache<Knex>(ACCOUNTS_KEPT);

  function open(accountId: string): Knex {
    const { connection: _, ...rest } = root.config;
    const config: SharedConfig = {
      ...rest,
      client: SharedDialect,
      lockTimeoutMs,
      share: { root, slots, accountId, waitMs },
    };
    const handle = knexFactory(config);
    // The same object, so that all stop preparing statements together.
    handle.userParams = db.userParams;
    handle.on('query', (query: unknown) => root.emit('query', query));
    roots.set(handle, db);
    return handle;
  }

  return {
    of(accountId) {
      const known = handles.get(accountId);
      if (known !== undefined) return known;
      const handle = open(accountId);
      handles.set(accountId, handle);
      return handle;
    },
  };
}

const roots = new WeakMap<Knex, Knex>();

/** The database without shares, for statements that requests of several accounts share; these wait for no row. */
export function rootOf(db: Knex): Knex {
  return roots.get(db) ?? db;
}

interface SharedConfig extends DialectConfig {
  share: { root: PostgresDialect; slots: Concurrency; accountId: string; waitMs: number };
}

/** Takes its connections from the pool of `root`, within the share. */
class SharedDialect extends PostgresDialect {
  declare config: SharedConfig;
  readonly #releases = new WeakMap<PostgresClient, Release>();

  override async acquireConnection(): Promise<PostgresClient> {
    const { root, slots, accountId, waitMs } = this.config.share;
    const release = await slots.take(waitMs, accountId);
    if (release === undefined) throw new Busy('connections');
    try {
      const connection: PostgresClient = await root.acquireConnection();
      this.#releases.set(connection, release);
      return connection;
    } catch (error) {
      release();
      throw error;
    }
  }

  override async releaseConnection(connection: PostgresClient): Promise<void> {
    const release = this.#releases.get(connection);
    this.#releases.delete(connection);
    try {
      await this.config.share.root.releaseConnection(connection);
    } finally {
      release?.();
    }
  }
}
