import type { Socket } from 'node:net';
import type pg from 'pg';

/**
 * A connection is reused only when no statement is in flight on it and no transaction is open. An abandoned BEGIN may
 * arrive late: later statements would then look committed and be rolled back when the connection ends.
 */
export type PostgresClient = pg.Client & {
  readonly connection: { readonly stream: Socket };
  /** Knex's pool does not hand out a connection that has this set. */
  __knex__disposed?: unknown;
};

const IDLE = 'I';
/** Postgres sends ReadyForQuery after an error, sometimes in a packet of its own. */
const READY_WITHIN_MS = 1000;

export function isIdle(client: pg.ClientBase): boolean {
  return isReady(client) && client.getTransactionStatus() === IDLE;
}

/** Whether Postgres has answered every statement. node-postgres has `readyForQuery`, and its types omit it. */
function isReady(client: pg.ClientBase): boolean {
  return 'readyForQuery' in client && client.readyForQuery === true;
}

export async function waitUntilIdle(client: PostgresClient): Promise<boolean> {
  if (isReady(client) || client.connection.stream.destroyed) return isIdle(client);
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      clearTimeout(timer);
      client.off('drain', settle);
      client.off('end', settle);
      resolve();
    };
    const timer = setTimeout(settle, READY_WITHIN_MS);
    client.once('drain', settle);
    client.once('end', settle);
  });
  return isIdle(client);
}

/** Closes the socket without Terminate, which a broken path may hold back. Postgres rolls back when it notices. */
export function destroyConnection(client: PostgresClient, why: string): void {
  client.__knex__disposed ??= why;
  client.connection.stream.destroy();
}
