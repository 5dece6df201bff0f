import type { Knex } from '../db/knex.js';
import { modelColumns } from '../db/model-columns.js';
import { weighedColumns } from '../db/weighed-columns.js';
import { noSuch } from '../errors/refusal.js';
import { now } from '../process/clock.js';
import { type Principal, requireKeyThatCounts, whereKeyCounts } from './api-keys.js';
import { Account, ApiKey } from './model.js';
import { ownList } from './own-list.js';

/** The checkout keys of a merchant, as a key of theirs sees them: those of its mode that count. */
export interface OwnKey {
  key: ApiKey;
  account: Account;
}

const key = weighedColumns(
  ApiKey,
  'key',
  ['id', 'livemode', 'name', 'facilitatorKeyId', 'lastUsedAt'],
  ['name', 'facilitatorKeyId'],
);
const account = modelColumns(Account, 'account', ['evmWallet', 'solanaWallet']);

/** A cursor may name one that has been revoked since: it is a position. */
const KEYS = ownList<OwnKey>({
  name: 'keys',
  what: 'API key',
  table: 'api_keys',
  alias: 'key',
  select: (share) => `
    SELECT ${key.sql(share)}, ${account.sql}
    FROM api_keys key ${key.join} JOIN accounts account ON account.id = key.account_id`,
  always: 'key.revoked_at IS NULL',
  read: (row) => ({ key: key.read(row), account: account.read(row) }),
});

/** By id also those that have been revoked since a list named them. */
export const { page: listOwnKeys, byIds: readOwnKeys } = KEYS;

/** A key may end itself. */
export async function deleteOwnKey(db: Knex, principal: Principal, id: string): Promise<void> {
  const { accountId, livemode } = principal;
  const deletion = ApiKey.query(db)
    .patch({ revokedAt: now() })
    .where({ id, accountId, livemode })
    .whereNull('revokedAt');
  if ((await whereKeyCounts(deletion, principal)) === 1) return;
  await requireKeyThatCounts(db, principal);
  throw noSuch('API key', id);
}
