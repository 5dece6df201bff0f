import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import { openIfPossible, type SecretBox } from '../secrets/secrets.js';
import { WebhookDelivery, WebhookEndpoint } from './model.js';
import { NEWEST_SECRETS, UNREADABLE_ENDPOINTS } from './statements/unreadable-secrets.sql.js';
import type { TakenDelivery } from './take-due.js';

/*
 * When this process's keys cannot open an endpoint's secret, the endpoint's deliveries are held like the deliveries of a
 * disabled endpoint, and no try is counted. They are released when the secret is rolled or resealed, and when a process
 * opens it after ENCRYPTION_KEY was corrected.
 */

const EXAMINED_TOGETHER = 1000;

/** Returns true for the process that marks the endpoint as unreadable, so that one process logs it, once. */
export async function holdUnreadable(
  db: Knex,
  { id, attempt, endpoint }: Pick<TakenDelivery, 'id' | 'attempt'> & { endpoint: { id: string } },
): Promise<boolean> {
  return await db.transaction(async (trx) => {
    // The endpoint is locked before its delivery, as in every other writer.
    await WebhookEndpoint.query(trx).findById(endpoint.id).select('id').forNoKeyUpdate();
    const marked = await WebhookEndpoint.query(trx)
      .patch({ unreadableSince: now() })
      .where('id', endpoint.id)
      .whereNull('unreadableSince');
    await WebhookDelivery.query(trx)
      .patch({ dueAt: now(), leasedUntil: null, lostTakes: 0 })
      .where({ id, attempt, status: 'pending' });
    return marked === 1;
  });
}

/** Releases the deliveries of the endpoints whose secrets can be opened again; returns the endpoints and their accounts. */
export async function releaseReadable(
  db: Knex,
  box: SecretBox,
): Promise<Pick<WebhookEndpoint, 'id' | 'accountId'>[]> {
  const released: Pick<WebhookEndpoint, 'id' | 'accountId'>[] = [];
  let last: UnreadableRow | undefined;
  do {
    const values = [last?.since ?? '-infinity', last?.id ?? '', EXAMINED_TOGETHER];
    const marked = await runStatement<UnreadableRow>(db, UNREADABLE_ENDPOINTS, values);
    const ids = marked.flatMap(({ id, sealed }) => (openIfPossible(box, sealed) === undefined ? [] : [id]));
    if (ids.length > 0) released.push(...(await release(db, ids)));
    last = marked.at(-1);
  } while (last !== undefined);
  return released;
}

interface UnreadableRow {
  id: string;
  sealed: string;
  /** The time as text, since a Date has no microseconds and would lead back to rows that were examined. */
  since: string;
}

async function release(
  db: Knex,
  ids: readonly string[],
): Promise<Pick<WebhookEndpoint, 'id' | 'accountId'>[]> {
  return await WebhookEndpoint.query(db)
    .patch({ unreadableSince: null })
    .whereIn('id', [...ids])
    .whereNotNull('unreadableSince')
    .returning(['id', 'accountId']);
}

const NEWEST = 20;
/** A value of another form was sealed by no key. */
const SEALED = /^[0-9a-f]{8}\.[\w-]+\.[\w-]+$/;

/** How many of the newest secrets were examined, when none of them can be opened; else 0. */
export async function countIfNoneOpens(db: Knex, box: SecretBox): Promise<number> {
  const rows = await runStatement<{ sealed: string }>(db, NEWEST_SECRETS, [NEWEST]);
  const sealed = rows.flatMap((row) => (SEALED.test(row.sealed) ? [row.sealed] : []));
  return sealed.some((one) => openIfPossible(box, one) !== undefined) ? 0 : sealed.length;
}
