import { randomInt } from 'node:crypto';
import type net from 'node:net';
import pg from 'pg';
import { eventually } from './eventually.js';

/**
 * Pauses the service at a named point without its cooperation: a trigger on a row's write waits for an advisory lock
 * that the test holds, inside the statement or, as a deferred constraint trigger, inside COMMIT. Create triggers before
 * anything is paused, since a paused transaction locks the table against them.
 */
export interface PauseOptions {
  table: 'payments' | 'payables' | 'events' | 'webhook_deliveries' | 'webhook_endpoints';
  on: 'INSERT' | 'UPDATE';
  /** SQL over NEW and OLD that selects the rows to pause. */
  when: string;
  moment: 'statement' | 'commit';
}

const PAUSE = `
  CREATE OR REPLACE FUNCTION pause_here() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    -- Requests wait for a lock only for a short time.
    PERFORM set_config('lock_timeout', '0', true);
    PERFORM pg_advisory_xact_lock_shared(TG_ARGV[0]::bigint);
    RETURN NULL;
  END $$`;

export class PausePoint {
  static readonly #all = new Set<PausePoint>();
  readonly #client: pg.Client;
  readonly #key: number;
  readonly #table: string;
  #isHeld = true;

  static async put(databaseUrl: string, { table, on, when, moment }: PauseOptions): Promise<PausePoint> {
    const client = new pg.Client({ connectionString: databaseUrl });
    client.on('error', () => {
      // The suite's Postgres ended before the pause point was removed.
    });
    await client.connect();
    const key = randomInt(1, 2 ** 31);
    await client.query('SELECT pg_advisory_lock($1)', [key]);
    await client.query(PAUSE);
    const [kind, timing] =
      moment === 'commit' ? ['CONSTRAINT TRIGGER', 'DEFERRABLE INITIALLY DEFERRED'] : ['TRIGGER', ''];
    await client.query(
      `CREATE ${kind} pause_${key} AFTER ${on} ON ${table} ${timing} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION pause_here(${key})`,
    );
    const point = new PausePoint(client, key, table);
    PausePoint.#all.add(point);
    return point;
  }

  /** Removes all pause points, in an `afterEach` hook those of a failed test too. */
  static async removeAll(): Promise<void> {
    for (const point of PausePoint.#all) await point.release();
    for (const point of PausePoint.#all) await point.remove();
  }

  private constructor(client: pg.Client, key: number, table: string) {
    this.#client = client;
    this.#key = key;
    this.#table = table;
  }

  /** Resolves when a transaction waits here. */
  async reached(): Promise<void> {
    await eventually(async () => {
      if ((await this.#waiting()).length === 0) throw new Error('no transaction has reached the pause point');
    });
  }

  /** Lets the waiting transactions continue; no further transaction pauses here. */
  async release(): Promise<void> {
    if (this.#isHeld) await this.#client.query('SELECT pg_advisory_unlock($1)', [this.#key]);
    this.#isHeld = false;
  }

  /** Ends the connections of the waiting transactions, so that their writes roll back. */
  async terminate(): Promise<void> {
    for (const pid of await this.#waiting()) {
      await this.#client.query('SELECT pg_terminate_backend($1, 5000)', [pid]);
    }
  }

  async remove(): Promise<void> {
    if (!PausePoint.#all.delete(this)) return;
    await this.release();
    await this.#client.query(`DROP TRIGGER IF EXISTS pause_${this.#key} ON ${this.#table}`);
    await this.#client.end();
  }

  async #waiting(): Promise<number[]> {
    const { rows } = await this.#client.query<{ pid: number }>(
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid::bigint = $1`,
      [this.#key],
    );
    return rows.map(({ pid }) => pid);
  }
}

/** The server's address: a socket in a folder, or a port. */
export function postgresAddress(url: URL): net.NetConnectOpts {
  const folder = url.searchParams.get('host');
  const port = Number(url.port === '' ? 5432 : url.port);
  return folder?.startsWith('/') ? { path: `${folder}/.s.PGSQL.${port}` } : { host: url.hostname, port };
}
