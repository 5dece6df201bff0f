import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import type { SecretBox } from '../secrets/secrets.js';
import { WebhookDelivery, WebhookEndpoint } from './model.js';
import { openIfPossible } from './secrets.js';
import { NEWEST_SECRETS } from './statements/unreadable.sql.js';
import type { TakenDelivery } from './take-due.js';

/**
 * An endpoint whose secret no key of this process opens: its deliveries are held as those of a disabled one, and no try is
 * counted. A process that opens the secret releases them: after ENCRYPTION_KEY was corrected, or the secret was rolled.
 */
const MOST_EXAMINED = 1000;

/** Returns whether the endpoint was readable until now, so that one process logs it, once. */
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
  const marked = await WebhookEndpoint.query(db)
    .whereNotNull('unreadableSince')
    .whereNull('deletedAt')
    .orderBy('unreadableSince')
    .limit(MOST_EXAMINED);
  const ids = marked.flatMap(({ id, sealedSecret }) =>
    openIfPossible(box, sealedSecret) === undefined ? [] : [id],
  );
  return await WebhookEndpoint.query(db)
    .patch({ unreadableSince: null })
    .whereIn('id', ids)
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
