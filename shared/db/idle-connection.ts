import type { Socket } from 'node:net';
import type pg from 'pg';

/**
 * A connection is used again only when nothing is on its way on it and no transaction is open. What was given up may
 * still arrive, a BEGIN above all: every statement after it would look committed and be undone with the connection.
 */
export type PostgresClient = pg.Client & {
  readonly connection: { readonly stream: Socket };
  /** How knex's pool knows one that it must not hand out. */
  __knex__disposed?: unknown;
};

const IDLE = 'I';
/** An error comes before the word that Postgres is ready again, at times in a packet of its own. */
const READY_WITHIN_MS = 1000;

export function isIdle(client: pg.ClientBase): boolean {
  return isReady(client) && client.getTransactionStatus() === IDLE;
}

/** Whether Postgres has answered everything it was asked: node-postgres keeps that, and its types leave it out. */
function isReady(client: pg.ClientBase): boolean {
  return 'readyForQuery' in client && client.readyForQuery === true;
}

export async function becomesIdle(client: PostgresClient): Promise<boolean> {
  if (isReady(client) || client.connection.stream.destroyed) return isIdle(client);
  await new Promise<void>((resolve) => {
    const goOn = (): void => {
      clearTimeout(timer);
      client.off('drain', goOn);
      client.off('end', goOn);
      resolve();
    };
    const timer = setTimeout(goOn, READY_WITHIN_MS);
    client.once('drain', goOn);
    client.once('end', goOn);
  });
  return isIdle(client);
}

/** At once and without a word to Postgres, which the path may be holding back: it undoes what is open when it hears. */
export function destroyConnection(client: PostgresClient, why: string): void {
  client.__knex__disposed ??= why;
  client.connection.stream.destroy();
}
