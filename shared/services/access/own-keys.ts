import { now } from '../../clock.js';
import type { Knex } from '../../db/knex.js';
import { modelColumns } from '../../db/model-columns.js';
import { type Listing, type Page, type PageRequest, readByIds, readPage } from '../../db/page.js';
import { type Weighed, weighedColumns } from '../../db/weighed-columns.js';
import { noSuch } from '../../domain/errors.js';
import { Account } from '../../models/account.js';
import { ApiKey } from '../../models/api-key.js';
import { keyCounts, type Principal, requireKeyThatCounts, whereKeyCounts } from './api-keys.js';

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
const KEYS: Omit<Listing<OwnKey>, 'values'> = {
  name: 'keys',
  what: 'API key',
  table: 'api_keys',
  alias: 'key',
  select: (share) => `
    SELECT ${key.sql(share)}, ${account.sql}
    FROM api_keys key ${key.join} JOIN accounts account ON account.id = key.account_id`,
  owned: 'key.account_id = $1 AND key.livemode = $2',
  allowed: keyCounts('$3'),
  always: 'key.revoked_at IS NULL',
  filters: [],
  read: (row) => ({ key: key.read(row), account: account.read(row) }),
};

export async function listOwnKeys(
  db: Knex,
  principal: Principal,
  page: PageRequest,
): Promise<Page<Weighed<OwnKey>>> {
  return await readPage(db, ownKeys(principal), page, () => requireKeyThatCounts(db, principal));
}

/** Those that a list has named, also when they have been revoked since. */
export async function readOwnKeys(db: Knex, principal: Principal, ids: readonly string[]): Promise<OwnKey[]> {
  return await readByIds(db, ownKeys(principal), ids, () => requireKeyThatCounts(db, principal));
}

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

function ownKeys({ accountId, livemode, keyId }: Principal): Listing<OwnKey> {
  return { ...KEYS, values: [accountId, livemode, keyId] };
}
