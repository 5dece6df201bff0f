import type { Knex } from '../db/knex.js';
import { requireFound } from '../errors/refusal.js';
import { newId } from '../values/ids.js';
import { Account } from './model.js';

export interface AccountDetails {
  name: string;
  evmWallet: string | null;
  solanaWallet: string | null;
  logoUrl: string | null;
  brandColor: string | null;
  supportEmail: string | null;
}

export async function createAccount(db: Knex, details: AccountDetails): Promise<Account> {
  return await Account.query(db)
    .insert({ id: newId('acct_'), ...details })
    .returning('*');
}

export async function updateAccount(
  db: Knex,
  id: string,
  changes: Partial<AccountDetails>,
): Promise<Account> {
  if (Object.keys(changes).length === 0) return await getAccount(db, id);
  const updated = await Account.query(db).patch(changes).where('id', id).returning('*').first();
  return requireFound(updated, 'account', id);
}

export async function getAccount(db: Knex, id: string): Promise<Account> {
  return requireFound(await Account.query(db).findById(id), 'account', id);
}

export async function listAccounts(db: Knex): Promise<Account[]> {
  return await Account.query(db).orderBy('id');
}
