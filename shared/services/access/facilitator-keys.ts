import type { Knex } from '../../db/knex.js';
import { noSuch, Refusal } from '../../domain/errors.js';
import { FacilitatorKey } from '../../models/facilitator-key.js';
import { getAccount } from './accounts.js';

/** A key id names one key of one account: adding it again replaces its public key, another account's is refused. */
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

export async function removeFacilitatorKey(
  db: Knex,
  accountId: string,
  keyId: string,
): Promise<FacilitatorKey> {
  const key = await FacilitatorKey.query(db).delete().where({ accountId, keyId }).returning('*').first();
  if (key === undefined) throw noSuch('facilitator key', keyId);
  return key;
}

export async function listFacilitatorKeys(db: Knex, accountId: string): Promise<FacilitatorKey[]> {
  return await FacilitatorKey.query(db).where({ accountId }).orderBy('keyId');
}

export async function findFacilitatorKey(db: Knex, keyId: string): Promise<FacilitatorKey | undefined> {
  return await FacilitatorKey.query(db).findById(keyId);
}
