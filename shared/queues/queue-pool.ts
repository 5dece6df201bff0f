import type { PostgresConnectionOptions } from 'bullmq';
import pg from 'pg';
import type { DatabaseConfig } from '../config/config.js';
import { postgresConnection } from '../db/connection.js';
import { isIdle } from '../db/idle-connection.js';

/** The schema of BullMQ's own migrations. */
const QUEUE_SCHEMA = 'bullmq';

/** BullMQ's statements begin with comments. */
const LISTEN = /^(?:--.*\n)*LISTEN /;

/**
 * BullMQ listens for errors of a client only while it runs a query. An unhandled `error` event, such as that of a connection
 * which ends while it is idle or closing, would end the process. The next query on the client fails anyway. A LISTEN fails
 * when the connection's end arrives with its answer. BullMQ is told of the end first: otherwise it would believe that the
 * connection listens, never listen again, and look for jobs every five seconds at best.
 */
class QueueClient extends pg.Client {
  #ended: unknown;

  constructor(settings?: pg.ClientConfig) {
    super(settings);
    const send = this.query.bind(this);
    const query = (...args: unknown[]): unknown => {
      const answer: unknown = Reflect.apply(send, undefined, args);
      const [text] = args;
      const listens = typeof text === 'string' && LISTEN.test(text);
      return listens && answer instanceof Promise ? this.#unlessEnded(answer) : answer;
    };
    Object.assign(this, { query });
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'error') this.#ended = args[0];
    return (event !== 'error' || this.listenerCount('error') > 0) && super.emit(event, ...args);
  }

  async #unlessEnded<T>(answer: Promise<T>): Promise<T> {
    const result = await answer;
    if (this.#ended !== undefined) throw this.#ended;
    return result;
  }
}

/** The pool drops a client that is ending. A client in LISTEN is idle and stays checked out until its worker closes. */
function endUnlessIdle(client: pg.PoolClient): void {
  if (!isIdle(client) && client instanceof pg.Client) client.end().catch(() => undefined); // The connection has already ended.
}

/** node-postgres would take the URL's options in place of these. Of two values of a setting Postgres takes the last. */
function withOptions(connectionString: string, own: string): pg.PoolConfig {
  const url = new URL(connectionString);
  const options = [...url.searchParams.getAll('options'), own].join(' ');
  url.searchParams.delete('options');
  return { connectionString: url.href, options };
}

export interface QueuePool {
  /** The connection for BullMQ, which cannot close the pool through it. */
  connection: PostgresConnectionOptions;
  close(): Promise<void>;
}

/** Connects on demand. A worker keeps one of the connections for LISTEN. */
export function openQueuePool(database: DatabaseConfig, max: number): QueuePool {
  // BullMQ expects node-postgres' own type parsers.
  const { types: _, connectionString, ...settings } = postgresConnection(database);
  const own = `-c search_path=${QUEUE_SCHEMA} -c idle_in_transaction_session_timeout=${database.queryTimeoutMs}`;
  const pool = new pg.Pool({ ...settings, ...withOptions(connectionString, own), max, Client: QueueClient });
  pool.on('release', (_error, client) => endUnlessIdle(client));
  pool.on('error', () => {
    // The error of an idle client; the pool replaces the client.
  });
  // `on` does nothing: BullMQ adds a listener for each queue and never removes it, and retried queues would add up.
  const shared = {
    options: pool.options,
    connect: () => pool.connect(),
    query: (text: string, values?: unknown[]) => pool.query(text, values),
    on: () => shared,
    end: () => Promise.resolve(),
  };
  return {
    // BullMQ accepts a pool, but its own type of a pool does not fit that of pg.
    connection: shared as unknown as PostgresConnectionOptions,
    async close() {
      if (!pool.ending) await pool.end();
    },
  };
}
