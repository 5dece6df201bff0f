import type { Knex } from '../db/knex.js';
import { Refusal } from '../errors/refusal.js';
import { retryAfterSeconds } from '../limits/retry-after.js';
import { nowMs } from '../process/clock.js';
import type { SecretBox } from '../secrets/secrets.js';
import { HOUR_MS } from '../values/day.js';
import { createdAt, lowestIdAt } from '../values/ids.js';
import { createApiKey, type NewApiKey } from './api-keys.js';
import { type AnswerRendering, renderAndStore } from './idempotency.js';
import { Account, ApiKey, FacilitatorKey } from './model.js';

const KEYS_PER_HOUR = 10;

/** Exchanges a verified token for a checkout key. The lock of the account's row serializes the hourly count. */
export async function createAgentKey(
  db: Knex,
  signer: FacilitatorKey,
  values: { livemode: boolean; name: string },
  box: SecretBox,
  rendering: AnswerRendering<NewApiKey & { account: Account }>,
): Promise<string> {
  return await db.transaction(async (trx) => {
    const account = await Account.query(trx).findById(signer.accountId).forNoKeyUpdate().throwIfNotFound();
    await refuseRemovedSigner(trx, signer);
    await refuseBeyondHourlyLimit(trx, account.id);
    const { key, secret } = await createApiKey(trx, {
      ...values,
      accountId: account.id,
      facilitatorKeyId: signer.keyId,
    });
    return await renderAndStore(trx, rendering, { key, secret, account }, box);
  });
}

/** Runs under the account's lock, since an operator may remove the facilitator key and its checkout keys meanwhile. */
async function refuseRemovedSigner(
  trx: Knex.Transaction,
  { keyId, accountId }: FacilitatorKey,
): Promise<void> {
  const signer = await FacilitatorKey.query(trx).findById(keyId).where({ accountId }).select('keyId');
  if (signer !== undefined) return;
  throw new Refusal(
    'token_invalid',
    'The facilitator key that signed the token is no longer registered here.',
  );
}

async function refuseBeyondHourlyLimit(trx: Knex.Transaction, accountId: string): Promise<void> {
  const recent = await ApiKey.query(trx)
    .select('id')
    .where({ accountId })
    .where('id', '>', lowestIdAt('key_', nowMs() - HOUR_MS))
    .whereNotNull('facilitatorKeyId')
    .orderBy('id');
  if (recent.length < KEYS_PER_HOUR) return;
  const oldest = recent[recent.length - KEYS_PER_HOUR];
  const freeAtMs = oldest === undefined ? nowMs() : createdAt(oldest.id).getTime() + HOUR_MS;
  throw new Refusal(
    'rate_limit',
    `An account can create ${KEYS_PER_HOUR} keys an hour this way. Use a key that you have, or try again later.`,
    { retryAfterSeconds: retryAfterSeconds(freeAtMs - nowMs()) },
  );
}
