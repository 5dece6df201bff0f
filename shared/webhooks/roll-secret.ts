import type { Principal } from '../accounts/api-keys.js';
import { type Reply, renderAndStore } from '../accounts/idempotency.js';
import type { Knex } from '../db/knex.js';
import { now, nowMs } from '../process/clock.js';
import type { SecretBox } from '../secrets/secrets.js';
import { type EndpointWithSecret, lockOwnEndpoint, newSecret } from './endpoints.js';
import { WebhookEndpoint } from './model.js';

/** A new secret, which signs from now on, and for so long the one before with it. One before that signs no more. */
export async function rollWebhookSecret(
  db: Knex,
  principal: Principal,
  { id, bothSignForSeconds }: { id: string; bothSignForSeconds: number },
  box: SecretBox,
  reply: Reply<EndpointWithSecret>,
): Promise<string> {
  const secret = newSecret();
  return await db.transaction(async (trx) => {
    const endpoint = await lockOwnEndpoint(trx, principal, id);
    const overlaps = bothSignForSeconds > 0;
    const rolled = await endpoint.$query(trx).patchAndFetch({
      sealedSecret: box.seal(secret),
      previousSealedSecret: overlaps ? endpoint.sealedSecret : null,
      previousSignsUntil: overlaps ? new Date(nowMs() + bothSignForSeconds * 1000) : null,
    });
    return await renderAndStore(trx, reply, { endpoint: rolled, secret }, box);
  });
}

/** Secrets that sign no more are not kept. How many there were, at most `limit`. */
export async function removePreviousSecrets(db: Knex, limit: number): Promise<number> {
  const over = WebhookEndpoint.query(db).select('id').where('previousSignsUntil', '<=', now()).limit(limit);
  return await WebhookEndpoint.query(db)
    .patch({ previousSealedSecret: null, previousSignsUntil: null })
    .whereIn('id', over)
    // Asked again of the row as it is when it is written: it may have been rolled meanwhile.
    .where('previousSignsUntil', '<=', now());
}
