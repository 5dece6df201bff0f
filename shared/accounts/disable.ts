import { raw } from 'objection';
import type { Knex } from '../db/knex.js';
import { requireFound } from '../errors/refusal.js';
import { now } from '../process/clock.js';
import { revokeKeysOf } from './api-keys.js';
import { Account, ApiKey } from './model.js';

/**
 * Disables an account: its keys are refused by each request's own statement, and its open links by the read of the link,
 * so that no cache delays it. Payments in progress and webhooks are not touched. The update locks the account's row, and
 * createApiKey waits for that lock, so that no key is left out.
 */
export async function disableAccount(db: Knex, id: string): Promise<Account> {
  return await db.transaction(async (trx) => {
    const account = await setDisabledAt(trx, id, raw('coalesce(disabled_at, ?)', now()));
    await ApiKey.query(trx)
      .patch({ revokedAt: now(), suspended: true })
      .where('accountId', id)
      .whereNull('revokedAt');
    return account;
  });
}

/** Keys that were revoked before or meanwhile stay revoked. */
export async function enableAccount(db: Knex, id: string): Promise<Account> {
  return await db.transaction(async (trx) => {
    const account = await setDisabledAt(trx, id, null);
    await ApiKey.query(trx)
      .patch({ revokedAt: null, suspended: false })
      .where({ accountId: id, suspended: true });
    return account;
  });
}

/** Revokes every checkout key of the account, of one mode or of both, and returns the keys that this call has revoked. */
export async function revokeAccountKeys(
  db: Knex,
  accountId: string,
  livemode: boolean | undefined,
): Promise<ApiKey[]> {
  return await db.transaction(async (trx) => {
    // A key that is created meanwhile waits, and is made after this command.
    const account = await Account.query(trx).findById(accountId).forNoKeyUpdate().select('id');
    requireFound(account, 'account', accountId);
    return await revokeKeysOf(trx, { accountId, ...(livemode !== undefined && { livemode }) });
  });
}

async function setDisabledAt(
  trx: Knex.Transaction,
  id: string,
  disabledAt: ReturnType<typeof raw> | null,
): Promise<Account> {
  const updated = await Account.query(trx).patch({ disabledAt }).where('id', id).returning('*').first();
  return requireFound(updated, 'account', id);
}
