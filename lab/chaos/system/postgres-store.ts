import path from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../local/postgres/embedded-postgres.js';
import { nowMs } from '../../../shared/process/clock.js';
import type { ExplainedPayment } from '../../world/history/judge-history.js';
import { catchUp, copyForStandby, crashPostgres, stopFollowing } from '../../world/processes/live-copy.js';
import { removePostgres } from '../../world/processes/services.js';

/**
 * Commits survive a crash of the server's processes, and only processes are killed: the machine's disk is not tested.
 * A standby has the log that it needs for as long as its primary runs.
 */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: 300, wal_keep_size: '1GB' };
const TIMEOUT_MS = 5000;

/** A connection with an open transaction and no running statement. */
export interface IdleConnection {
  pid: number;
  seconds: number;
  since: string;
  /** The last statement. */
  query: string;
}

const HISTORIES = `SELECT id, status, failure_code AS "failureCode", transaction, history FROM payments`;

/** A function that is found before Postgres' own. */
const MOVED_CLOCK = `
  CREATE SCHEMA moved;
  CREATE TABLE moved.clock (by interval NOT NULL);
  INSERT INTO moved.clock VALUES ('0');
  CREATE FUNCTION moved.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
    'SELECT pg_catalog.clock_timestamp() + by FROM moved.clock'`;

const IDLE = `
  SELECT pid, extract(epoch FROM clock_timestamp() - state_change)::integer AS seconds,
    state_change::text AS since, left(query, 200) AS query
  FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'`;

/** A real Postgres that can be stopped or crashed, and started again on its data or on that of a standby. */
export class PostgresStore {
  #server: EmbeddedPostgres;
  #standbys = 0;
  /** Undefined until the clock can be set. */
  #clockMs: number | undefined;
  /** The last change of the server; the next change waits for it. */
  #lastChange: Promise<unknown> = Promise.resolve();

  static async start(folder: string): Promise<PostgresStore> {
    return new PostgresStore(await startOn(folder));
  }

  private constructor(server: EmbeddedPostgres) {
    this.#server = server;
  }

  /** Connects without a proxy, to a socket that a restarted server listens on too. */
  get directUrl(): string {
    return this.#server.url;
  }

  /** Runs on a connection of its own, without a proxy. */
  async query<Row extends object>(text: string, values: readonly string[] = []): Promise<Row[]> {
    return await queryOn<Row>(this.#server, text, values);
  }

  async idleInTransaction(): Promise<IdleConnection[]> {
    return await this.query<IdleConnection>(IDLE);
  }

  async histories(): Promise<ExplainedPayment[]> {
    return await this.query<ExplainedPayment>(HISTORIES);
  }

  /** Lets new connections read another clock. Only the service reads it: in no schema of ours is a function of that name. */
  async makeClockSettable(): Promise<void> {
    const name = new URL(this.directUrl).pathname.slice(1);
    this.#clockMs = 0;
    await this.query(`${MOVED_CLOCK}; ALTER DATABASE ${name} SET search_path = moved, pg_catalog, public`);
  }

  /** Sets the clock ahead or back; 0 sets it right. */
  async setClock(ms: number): Promise<void> {
    this.#clockMs = ms;
    await this.query('UPDATE moved.clock SET by = $1::interval', [`${ms} milliseconds`]);
  }

  async restart(): Promise<void> {
    await this.#inTurn(() => this.#startAgain());
  }

  /** Kills all server processes at once. */
  async crash(): Promise<void> {
    await this.#inTurn(async () => {
      await crashPostgres(this.#server);
      await this.#startAgain();
    });
  }

  /**
   * A standby stops to follow, the server goes on for as long as `lasting` does, crashes, and the standby takes its place.
   * Returns the times between which commits are lost.
   */
  async failOver(lasting: () => Promise<void>): Promise<{ from: number; to: number }> {
    return await this.#inTurn(async () => {
      const standby = await this.#addStandby();
      const from = nowMs();
      await stopFollowing((text) => queryOn(standby, text));
      await lasting();
      await crashPostgres(this.#server);
      await queryOn(standby, 'SELECT pg_promote()');
      const old = this.#server;
      this.#server = standby;
      // The failover may have lost the last change of the clock.
      if (this.#clockMs !== undefined) await this.setClock(this.#clockMs);
      await removePostgres(old);
      return { from, to: nowMs() };
    });
  }

  async stop(): Promise<void> {
    await this.#inTurn(() => removePostgres(this.#server));
  }

  /** Resolves when the standby has every earlier commit. */
  async #addStandby(): Promise<EmbeddedPostgres> {
    this.#standbys += 1;
    const standby = await startOn(await copyForStandby(this.#server, `standby-${this.#standbys}`));
    await catchUp(
      (text) => this.query(text),
      (text) => queryOn(standby, text),
    );
    return standby;
  }

  async #startAgain(): Promise<void> {
    await this.#server.stop();
    this.#server = await startOn(path.dirname(this.#server.dataDir));
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastChange.then(work);
    this.#lastChange = turn.catch(() => undefined);
    return await turn;
  }
}

async function startOn(dir: string): Promise<EmbeddedPostgres> {
  return await startEmbeddedPostgres({ dir, settings: SETTINGS });
}

async function queryOn<Row extends object>(
  { url }: EmbeddedPostgres,
  text: string,
  values: readonly string[] = [],
): Promise<Row[]> {
  const timeouts = { connectionTimeoutMillis: TIMEOUT_MS, query_timeout: TIMEOUT_MS };
  const client = new pg.Client({ connectionString: url, ...timeouts });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Row>(text, [...values]);
    return rows;
  } finally {
    await client.end();
  }
}
