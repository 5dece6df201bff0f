import type { Knex } from '../db/knex.js';
import { modelColumns } from '../db/model-columns.js';
import { sizedColumns } from '../db/sized-columns.js';
import { noSuch } from '../errors/refusal.js';
import { now } from '../process/clock.js';
import { accountList } from './account-list.js';
import { type Principal, requireActiveKey, whereKeyActive } from './api-keys.js';
import { Account, ApiKey } from './model.js';

/** A merchant's active checkout keys of one mode. */
interface AccountKey {
  key: ApiKey;
  account: Account;
}

const key = sizedColumns(
  ApiKey,
  'key',
  ['id', 'livemode', 'name', 'access', 'facilitatorKeyId', 'lastUsedAt'],
  ['name', 'facilitatorKeyId'],
);
const account = modelColumns(Account, 'account', ['evmWallet', 'solanaWallet']);

/** `always` does not apply to cursors, so a cursor may name a key that was revoked since. */
const KEYS = accountList<AccountKey>({
  name: 'keys',
  what: 'API key',
  table: 'api_keys',
  alias: 'key',
  select: (share) => `
    SELECT ${key.sql(share)}, ${account.sql}
    FROM api_keys key ${key.join} JOIN accounts account ON account.id = key.account_id`,
  listed: 'key.revoked_at IS NULL',
  read: (row) => ({ key: key.read(row), account: account.read(row) }),
});

/** `readAccountKeys` also returns keys that were revoked since the list was read. */
export const { page: listAccountKeys, byIds: readAccountKeys } = KEYS;

/** A key may delete itself. */
export async function deleteAccountKey(db: Knex, principal: Principal, id: string): Promise<void> {
  const { accountId, livemode } = principal;
  const deletion = ApiKey.query(db)
    .patch({ revokedAt: now() })
    .where({ id, accountId, livemode })
    .whereNull('revokedAt');
  if ((await whereKeyActive(deletion, principal)) === 1) return;
  await requireActiveKey(db, principal);
  throw noSuch('API key', id);
}
