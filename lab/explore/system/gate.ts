import type { Knex } from '../../../shared/db/knex.js';
import type { Crash } from '../steps/steps.js';

/** Thrown in a process that was killed, so that it does nothing further. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/** node-postgres' message for a broken connection. */
const BROKEN = 'Connection terminated unexpectedly';

export function isInjectedFault(error: unknown): boolean {
  return error instanceof Killed || (error instanceof Error && error.message.endsWith(BROKEN));
}

/** The faults of one handler's run on its way to Postgres. */
interface InjectedFault {
  crash: Crash;
  /** Runs after the first statement: the worker has taken its row. */
  taken(): Promise<void>;
}

/**
 * Sits between a worker and its connections. The open transaction of a killed worker is rolled back, as Postgres does
 * when a client's connection ends.
 */
export class Gate {
  #fault: InjectedFault | undefined;
  #isTaken = false;
  #isArmed = false;
  #hasFailed = false;
  #isDead = false;
  #isInTransaction = false;

  begin(fault: InjectedFault): void {
    this.#fault = fault;
    this.#isTaken = false;
    this.#isArmed = false;
    this.#hasFailed = false;
    this.#isDead = false;
    this.#isInTransaction = false;
  }

  end(): void {
    this.#fault = undefined;
  }

  /** A call has ended: the next write is the one to fail. A run that calls and writes again meets no second fault. */
  arm(): void {
    this.#isArmed = !this.#hasFailed;
  }

  async pass<T>(text: string, send: () => Promise<T>): Promise<T> {
    if (this.#fault === undefined || /^rollback/i.test(text)) return await send();
    const { crash, taken } = this.#fault;
    if (this.#isDead) throw new Killed();
    if (this.#isArmed && (crash === 'before the write' || crash === 'write lost')) this.#fail(crash);
    const result = await send();
    if (!this.#isTaken) {
      this.#isTaken = true;
      await taken();
    }
    if (/^begin/i.test(text)) this.#isInTransaction = true;
    const isCommitted = !this.#isInTransaction || /^commit/i.test(text);
    if (this.#isArmed && isCommitted && (crash === 'after the write' || crash === 'write lost but done'))
      this.#fail(crash);
    return result;
  }

  #fail(crash: Crash): never {
    this.#isArmed = false;
    this.#hasFailed = true;
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

/** Sends everything of this pool's connections through the gate. */
export function installGate(db: Knex): Gate {
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
