import type { Knex } from '../../../shared/db/knex.js';
import type { Crash } from '../steps.js';

/** Of a process that was killed: nothing comes after it. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/** As node-postgres says that a connection has broken. */
const BROKEN = 'Connection terminated unexpectedly';

export function isTrouble(error: unknown): boolean {
  return error instanceof Killed || (error instanceof Error && error.message.endsWith(BROKEN));
}

/** What befalls one run of a handler on its way to Postgres. */
export interface Trouble {
  crash: Crash;
  /** After its first statement: the worker has taken its row. */
  taken(): Promise<void>;
}

/**
 * Stands between a worker and its connections. A transaction that a killed worker had open is rolled back, as Postgres
 * does when the connection of a dead process ends.
 */
export class Gate {
  #trouble: Trouble | undefined;
  #isTaken = false;
  #isArmed = false;
  #hasStruck = false;
  #isDead = false;
  #isInTransaction = false;

  begin(trouble: Trouble): void {
    this.#trouble = trouble;
    this.#isTaken = false;
    this.#isArmed = false;
    this.#hasStruck = false;
    this.#isDead = false;
    this.#isInTransaction = false;
  }

  end(): void {
    this.#trouble = undefined;
  }

  /** A call is over: the next write is the one that matters. Who calls again to write again meets no second trouble. */
  arm(): void {
    this.#isArmed = !this.#hasStruck;
  }

  async pass<T>(text: string, send: () => Promise<T>): Promise<T> {
    if (this.#trouble === undefined || /^rollback/i.test(text)) return await send();
    const { crash, taken } = this.#trouble;
    if (this.#isDead) throw new Killed();
    if (this.#isArmed && (crash === 'before the write' || crash === 'write lost')) this.#strike(crash);
    const result = await send();
    if (!this.#isTaken) {
      this.#isTaken = true;
      await taken();
    }
    if (/^begin/i.test(text)) this.#isInTransaction = true;
    const isCommitted = !this.#isInTransaction || /^commit/i.test(text);
    if (this.#isArmed && isCommitted && (crash === 'after the write' || crash === 'write lost but done'))
      this.#strike(crash);
    return result;
  }

  #strike(crash: Crash): never {
    this.#isArmed = false;
    this.#hasStruck = true;
    this.#isInTransaction = false;
    if (crash.startsWith('write lost')) throw Object.assign(new Error(BROKEN), { code: 'ECONNRESET' });
    this.#isDead = true;
    throw new Killed();
  }
}

interface Connection {
  query(...args: unknown[]): unknown;
}

type Callback = (error: unknown, result?: unknown) => void;

/** Whatever this pool's connections send goes by the gate. */
export function putGate(db: Knex): Gate {
  const gate = new Gate();
  const guarded = new WeakSet<Connection>();
  const client: { acquireConnection(): Promise<Connection> } = db.client;
  const acquire = client.acquireConnection.bind(client);
  client.acquireConnection = async () => {
    const connection = await acquire();
    if (!guarded.has(connection)) {
      guarded.add(connection);
      guard(connection, gate);
    }
    return connection;
  };
  return gate;
}

function guard(connection: Connection, gate: Gate): void {
  const send = connection.query.bind(connection);
  connection.query = (...args) => {
    const last = args.at(-1);
    const isCalledBack = isCallback(last);
    const rest = isCalledBack ? args.slice(0, -1) : args;
    const passing = gate.pass(textOf(args[0]), async () => await send(...rest));
    if (!isCalledBack) return passing;
    passing.then((result) => last(null, result), last);
    return undefined;
  };
}

function isCallback(value: unknown): value is Callback {
  return typeof value === 'function';
}

function textOf(query: unknown): string {
  if (typeof query === 'string') return query;
  return typeof query === 'object' && query !== null && 'text' in query ? String(query.text) : '';
}
