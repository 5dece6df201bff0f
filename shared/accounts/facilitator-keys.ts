import type { Knex } from '../db/knex.js';
import { noSuch, Refusal } from '../errors/refusal.js';
import { getAccount } from './accounts.js';
import { revokeKeysOf } from './api-keys.js';
import { Account, type ApiKey, FacilitatorKey } from './model.js';

/** The most characters of a facilitator key's id. A token that names a longer one is refused. */
export const MAX_KEY_ID_LENGTH = 255;

/** Adding a key id again replaces its public key; a key id of another account is refused. */
export async function addFacilitatorKey(
  db: Knex,
  values: { accountId: string; keyId: string; publicKey: Buffer },
): Promise<FacilitatorKey> {
  await getAccount(db, values.accountId);
  await FacilitatorKey.query(db)
    .insert(values)
    .onConflict('keyId')
    .merge(['publicKey'])
    .where('facilitator_keys.accountId', values.accountId);
  const key = await FacilitatorKey.query(db).findById(values.keyId).throwIfNotFound();
  if (key.accountId !== values.accountId) {
    throw new Refusal(
      'parameter_invalid',
      `The facilitator key '${values.keyId}' belongs to another account.`,
    );
  }
  return key;
}

/**
 * Removes a facilitator key. With `revokeKeys` also revokes the checkout keys made with it, even when it was removed before.
 * The lock of the account's row keeps a concurrent createAgentKey from adding another one.
 */
export async function removeFacilitatorKey(
  db: Knex,
  { accountId, keyId }: Pick<FacilitatorKey, 'accountId' | 'keyId'>,
  { revokeKeys }: { revokeKeys: boolean },
): Promise<ApiKey[]> {
  return await db.transaction(async (trx) => {
    await Account.query(trx).findById(accountId).forNoKeyUpdate().select('id');
    const removed = await FacilitatorKey.query(trx).delete().where({ accountId, keyId });
    const revoked = revokeKeys ? await revokeKeysOf(trx, { accountId, facilitatorKeyId: keyId }) : [];
    if (removed === 0 && revoked.length === 0) throw noSuch('facilitator key', keyId);
    return revoked;
  });
}

export async function listFacilitatorKeys(db: Knex, accountId: string): Promise<FacilitatorKey[]> {
  return await FacilitatorKey.query(db).where({ accountId }).orderBy('keyId');
}

export async function findFacilitatorKey(db: Knex, keyId: string): Promise<FacilitatorKey | undefined> {
  return await FacilitatorKey.query(db).findById(keyId);
}
