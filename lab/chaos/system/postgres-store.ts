import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../local/postgres/embedded-postgres.js';
import type { ExplainedPayment } from '../../world/history/judge-history.js';

/**
 * Commits survive a crash of the server's processes, and only processes are killed: the machine's disk is not tested.
 */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: 300 };
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

const IDLE = `
  SELECT pid, extract(epoch FROM clock_timestamp() - state_change)::integer AS seconds,
    state_change::text AS since, left(query, 200) AS query
  FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'`;

/** A real Postgres that can be stopped or crashed, and started again on its data. */
export class PostgresStore {
  readonly #folder: string;
  #server: EmbeddedPostgres;

  static async start(folder: string): Promise<PostgresStore> {
    return new PostgresStore(folder, await startEmbeddedPostgres({ dir: folder, settings: SETTINGS }));
  }

  private constructor(folder: string, server: EmbeddedPostgres) {
    this.#folder = folder;
    this.#server = server;
  }

  /** Connects without a proxy, to a socket that a restarted server listens on too. */
  get directUrl(): string {
    return this.#server.url;
  }

  /** Runs on a connection of its own, without a proxy. */
  async query<Row extends object>(text: string, values: readonly string[] = []): Promise<Row[]> {
    const timeouts = { connectionTimeoutMillis: TIMEOUT_MS, query_timeout: TIMEOUT_MS };
    const client = new pg.Client({ connectionString: this.directUrl, ...timeouts });
    client.on('error', () => undefined);
    await client.connect();
    try {
      const { rows } = await client.query<Row>(text, [...values]);
      return rows;
    } finally {
      await client.end();
    }
  }

  async idleInTransaction(): Promise<IdleConnection[]> {
    return await this.query<IdleConnection>(IDLE);
  }

  async histories(): Promise<ExplainedPayment[]> {
    return await this.query<ExplainedPayment>(HISTORIES);
  }

  async restart(): Promise<void> {
    await this.#server.stop();
    this.#server = await startEmbeddedPostgres({ dir: this.#folder, settings: SETTINGS });
  }

  /** Kills all server processes at once. */
  async crash(): Promise<void> {
    const [pid] = (await readFile(path.join(this.#server.dataDir, 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGQUIT');
    await this.restart();
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    // The data directory is elsewhere when the database user cannot enter `folder`.
    await rm(path.dirname(this.#server.dataDir), { recursive: true, force: true });
  }
}
