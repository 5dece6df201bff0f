import { type Model, type QueryBuilder, raw } from 'objection';
import { batchReads } from '../db/batch-reads.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { Refusal, requireFound } from '../errors/refusal.js';
import { MAX_REFUSED_KEYS_KEPT } from '../limits/bounds.js';
import { lruCache } from '../limits/lru-cache.js';
import { now, nowMs } from '../process/clock.js';
import { sha256, sha256Base64 } from '../secrets/secrets.js';
import { newId, randomText } from '../values/ids.js';
import { Account, ApiKey, type KeyAccess } from './model.js';
import { KEYS_BY_SECRET } from './statements/api-keys.sql.js';

/**
 * Checkout keys. A key's account, mode and access never change, so each process caches them. Whether the key is revoked is part
 * of the first statement of every request (`isKeyActive`), which costs no extra round trip. When that statement finds nothing,
 * `requireActiveKey` tells a revoked key from a missing object.
 */
export interface Principal {
  keyId: string;
  accountId: string;
  livemode: boolean;
  access: KeyAccess;
}

const SECRET_LENGTH = 40;
const identities = lruCache<Principal>(10_000);

type RefusalReason = 'unknown' | 'revoked';
/**
 * Hashes that belong to no key. Safe to cache: a secret is unknown to clients before its key is stored. A revoked key is
 * not cached, because it may belong to a disabled account that is enabled again.
 */
const unknownKeys = lruCache<'unknown'>(MAX_REFUSED_KEYS_KEPT, { ttl: 5000, perf: { now: nowMs } });

export interface NewApiKey {
  key: ApiKey;
  secret: string;
}

export async function createApiKey(
  db: Knex,
  values: {
    accountId: string;
    livemode: boolean;
    name: string;
    facilitatorKeyId?: string;
    access?: KeyAccess;
  },
): Promise<NewApiKey> {
  await requireEnabled(db, values.accountId);
  const secret = `${keyPrefix(values.livemode)}${randomText(SECRET_LENGTH)}`;
  const { access = 'full' } = values;
  const hash = sha256(secret);
  const key = await ApiKey.query(db)
    .insert({
      id: newId('key_'),
      accountId: values.accountId,
      livemode: values.livemode,
      name: values.name,
      secretSha256: access === 'full' ? hash : sha256(hash),
      access,
      facilitatorKeyId: values.facilitatorKeyId ?? null,
      revokedAt: null,
    })
    .returning('*');
  return { key, secret };
}

/** The lock lasts until the caller's transaction ends, so that no key is created while the account is being disabled. */
async function requireEnabled(db: Knex, accountId: string): Promise<void> {
  const account = await Account.query(db).findById(accountId).forShare().select('disabledAt');
  if (account === undefined || account.disabledAt === null) return;
  throw new Refusal('api_key_revoked', `The account ${accountId} is disabled and can have no new keys.`);
}

export async function revokeApiKey(db: Knex, keyId: string): Promise<ApiKey> {
  const key = await ApiKey.query(db)
    .patch({ revokedAt: raw('coalesce(revoked_at, ?)', now()), suspended: false })
    .where('id', keyId)
    .returning('*')
    .first();
  return requireFound(key, 'API key', keyId);
}

/** Revokes the keys of an account that are active or suspended, and returns them. */
export async function revokeKeysOf(
  db: Knex,
  which: { accountId: string; facilitatorKeyId?: string; livemode?: boolean },
): Promise<ApiKey[]> {
  const keys = await ApiKey.query(db)
    .patch({ revokedAt: raw('coalesce(revoked_at, ?)', now()), suspended: false })
    .where(which)
    .where((isInUse) => isInUse.whereNull('revokedAt').orWhere('suspended', true))
    .returning('*');
  return keys.sort((a, b) => (a.id < b.id ? -1 : 1));
}

export async function listApiKeys(db: Knex, accountId: string): Promise<ApiKey[]> {
  return await ApiKey.query(db).where({ accountId }).orderBy('id');
}

export async function findPrincipal(db: Knex, secret: string): Promise<Principal> {
  if (!isKeyShaped(secret)) throw keyInvalid(secret);
  const hash = sha256Base64(secret);
  const known = identities.get(hash);
  if (known !== undefined) return known;
  const found = unknownKeys.get(hash) ?? (await findBySecret(db, hash));
  if (typeof found === 'object') {
    identities.set(hash, found);
    return found;
  }
  if (found === 'unknown') unknownKeys.set(hash, found);
  throw found === 'revoked' ? keyRevoked() : keyInvalid(secret);
}

async function findBySecret(db: Knex, hash: string): Promise<Principal | RefusalReason> {
  const key = await readKey(db, hash);
  if (key === undefined) return 'unknown';
  const { id: keyId, accountId, livemode, access, isRevoked } = key;
  return isRevoked ? 'revoked' : { keyId, accountId, livemode, access };
}

interface FoundKey {
  index: number;
  id: string;
  accountId: string;
  livemode: boolean;
  access: KeyAccess;
  isRevoked: boolean;
}

const readKey = batchReads<string, FoundKey>(async (db, hashes) => {
  const found = await runStatement<FoundKey>(db, KEYS_BY_SECRET, [hashes]);
  const keys = new Map(found.map((key) => [key.index, key]));
  return hashes.map((_, index) => keys.get(index));
});

/** An SQL condition: the key with this id exists and is not revoked. `id` is an SQL expression. */
export function isKeyActive(id: string): string {
  return `EXISTS (SELECT FROM api_keys WHERE api_keys.id = ${id} AND api_keys.revoked_at IS NULL)`;
}

export function whereKeyActive<M extends Model, R>(
  query: QueryBuilder<M, R>,
  principal: Principal,
): QueryBuilder<M, R> {
  return query.whereRaw(isKeyActive('?'), principal.keyId);
}

/** Throws when a statement may have found nothing because the key is revoked. */
export async function requireActiveKey(db: Knex, principal: Principal): Promise<void> {
  const key = await ApiKey.query(db).findById(principal.keyId).select('revokedAt');
  if (key !== undefined && key.revokedAt === null) return;
  // The key's next requests are then refused before they count against the account's rate limit.
  for (const [hash, { keyId }] of identities.entries())
    if (keyId === principal.keyId) identities.delete(hash);
  throw keyRevoked();
}

/** Throws for a key that only reads. Each request that may change something calls it. */
export function requireFullAccess({ access }: Principal): void {
  if (access === 'full') return;
  throw new Refusal(
    'key_read_only',
    'This API key only reads. Use a key with full access for requests that change something.',
  );
}

function keyInvalid(secret: string): Refusal {
  return new Refusal(
    'api_key_invalid',
    `Invalid API key provided: ${mask(secret)}. Check that the key is correct and complete.`,
  );
}

function keyRevoked(): Refusal {
  return new Refusal(
    'api_key_revoked',
    'This API key was revoked, by itself or with its whole account. Use another key of the account; when none works, ask the operator of this service.',
  );
}

function keyPrefix(livemode: boolean): string {
  return livemode ? 'svc_ck_live_' : 'svc_ck_test_';
}

function isKeyShaped(secret: string): boolean {
  return /^svc_ck_(live|test)_[A-Za-z0-9]{20,100}$/.test(secret);
}

function mask(secret: string): string {
  const prefix = /^svc_ck_(live|test)_/.exec(secret)?.[0] ?? '';
  return `${prefix}****${secret.length > 40 ? secret.slice(-4).replaceAll(/[^A-Za-z0-9]/g, '*') : ''}`;
}
