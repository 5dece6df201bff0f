import type { Principal } from '../accounts/api-keys.js';
import { type AnswerRendering, renderAndStore } from '../accounts/idempotency.js';
import type { Knex } from '../db/knex.js';
import { certainNow, laterNowMs } from '../process/clock.js';
import { openIfPossible, type SecretBox } from '../secrets/secrets.js';
import { type EndpointWithSecret, lockOwnEndpoint, newSecret } from './endpoints.js';
import { WebhookEndpoint } from './model.js';

/**
 * The new secret signs from now on, with the previous secret beside it for `bothSignForSeconds`. Older secrets sign no more.
 * The end of that time is written by the later of two clocks and judged by the earlier: a receiver that still has the
 * previous secret would refuse a signature of the new secret alone.
 */
export async function rollWebhookSecret(
  db: Knex,
  principal: Principal,
  { id, bothSignForSeconds }: { id: string; bothSignForSeconds: number },
  box: SecretBox,
  rendering: AnswerRendering<EndpointWithSecret>,
): Promise<string> {
  const secret = newSecret();
  return await db.transaction(async (trx) => {
    const endpoint = await lockOwnEndpoint(trx, principal, id);
    const overlaps = bothSignForSeconds > 0;
    const rolled = await endpoint.$query(trx).patchAndFetch({
      sealedSecret: box.seal(secret),
      // The deliveries that were held for the old secret are due, and the sweep finds them.
      unreadableSince: null,
      previousSealedSecret: overlaps ? endpoint.sealedSecret : null,
      previousSignsUntil: overlaps ? new Date(laterNowMs() + bothSignForSeconds * 1000) : null,
    });
    return await renderAndStore(trx, rendering, { endpoint: rolled, secret }, box);
  });
}

/** Removes at most `limit` previous secrets that sign no more, and returns their number. */
export async function removePreviousSecrets(db: Knex, limit: number): Promise<number> {
  const expired = WebhookEndpoint.query(db)
    .select('id')
    .where('previousSignsUntil', '<=', certainNow())
    .limit(limit);
  return await WebhookEndpoint.query(db)
    .patch({ previousSealedSecret: null, previousSignsUntil: null })
    .whereIn('id', expired)
    // The time is checked again under the row's lock: the secret may have been rolled meanwhile.
    .where('previousSignsUntil', '<=', certainNow());
}

export interface Resealed {
  resealed: number;
  /** Secrets that were sealed with the ring's first key already. */
  current: number;
  /** Ids of endpoints with a secret that no key of the ring opens. */
  unreadable: string[];
}

const BATCH = 500;
const SEALED = ['sealedSecret', 'previousSealedSecret'] as const;

/**
 * Seals the webhook secrets of all endpoints that are not deleted with the ring's first key. Each secret is written by a
 * statement of its own, and only while its row holds the value that was read: no lock is held for long, a secret that is rolled
 * meanwhile stays, and several processes may reseal at once. A row that has changed is read again: a roll moves the secret that
 * was read to the other column, sealed as it was.
 */
export async function resealSecrets(db: Knex, box: SecretBox): Promise<Resealed> {
  const done: Resealed = { resealed: 0, current: 0, unreadable: [] };
  for (let after = ''; ; ) {
    const endpoints = await WebhookEndpoint.query(db)
      .select('id', ...SEALED)
      .where('id', '>', after)
      .whereNull('deletedAt')
      .orderBy('id')
      .limit(BATCH);
    const last = endpoints.at(-1);
    if (last === undefined) return done;
    for (const endpoint of endpoints) await resealEndpoint(db, box, endpoint, done);
    after = last.id;
  }
}

async function resealEndpoint(
  db: Knex,
  box: SecretBox,
  read: WebhookEndpoint,
  done: Resealed,
): Promise<void> {
  let endpoint = read;
  for (const column of SEALED) {
    while (!(await reseal(db, box, endpoint, column, done)))
      endpoint = await WebhookEndpoint.query(db)
        .findById(endpoint.id)
        .select('id', ...SEALED)
        .throwIfNotFound();
  }
}

/** False when the row has changed since it was read. */
async function reseal(
  db: Knex,
  box: SecretBox,
  endpoint: WebhookEndpoint,
  column: (typeof SEALED)[number],
  done: Resealed,
): Promise<boolean> {
  const { id, [column]: sealed } = endpoint;
  if (sealed === null) return true;
  const secret = openIfPossible(box, sealed);
  if (secret === undefined) {
    if (!done.unreadable.includes(id)) done.unreadable.push(id);
    return true;
  }
  if (box.isCurrent(sealed)) {
    done.current += 1;
    return true;
  }
  const written = await WebhookEndpoint.query(db)
    .patch({ [column]: box.seal(secret), ...(column === 'sealedSecret' && { unreadableSince: null }) })
    .where({ id, [column]: sealed });
  done.resealed += written;
  return written === 1;
}
