import { LRUCache } from 'lru-cache';
import { type Model, type QueryBuilder, raw } from 'objection';
import { batchReads } from '../db/batch-reads.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { noSuch, Refusal } from '../errors/refusal.js';
import { MAX_REFUSED_KEYS_KEPT } from '../limits/bounds.js';
import { now, nowMs } from '../process/clock.js';
import { sha256, sha256Base64 } from '../secrets/secrets.js';
import { newId, randomText } from '../values/ids.js';
import { Account, ApiKey } from './model.js';
import { KEYS_BY_SECRET } from './statements/api-keys.sql.js';

/**
 * Checkout keys. A key's account and mode never change, so a process may remember whose key it is; whether it
 * still counts is asked in every statement that a request begins with (`whereKeyCounts`), which costs no round
 * trip of its own. A statement that finds nothing asks `requireKeyThatCounts` before it says so.
 */
export interface Principal {
  keyId: string;
  accountId: string;
  livemode: boolean;
}

const SECRET_LENGTH = 40;
const identities = new LRUCache<string, Principal>({ max: 10_000 });

type WhyRefused = 'unknown' | 'revoked';
/** Nobody has a secret before its key is written, and no key comes back: what was refused is refused again. */
const refusals = new LRUCache<string, WhyRefused>({
  max: MAX_REFUSED_KEYS_KEPT,
  ttl: 5000,
  perf: { now: nowMs },
});

export interface NewApiKey {
  key: ApiKey;
  secret: string;
}

export async function createApiKey(
  db: Knex,
  values: { accountId: string; livemode: boolean; name: string; facilitatorKeyId?: string },
): Promise<NewApiKey> {
  const secret = `${keyPrefix(values.livemode)}${randomText(SECRET_LENGTH)}`;
  const key = await ApiKey.query(db)
    .insert({
      id: newId('key_'),
      accountId: values.accountId,
      livemode: values.livemode,
      name: values.name,
      secretSha256: sha256(secret),
      facilitatorKeyId: values.facilitatorKeyId ?? null,
      revokedAt: null,
    })
    .returning('*');
  return { key, secret };
}

export async function revokeApiKey(db: Knex, keyId: string): Promise<ApiKey> {
  const key = await ApiKey.query(db)
    .patch({ revokedAt: raw('coalesce(revoked_at, ?)', now()) })
    .where('id', keyId)
    .returning('*')
    .first();
  if (key === undefined) throw noSuch('API key', keyId);
  return key;
}

/** Those that counted until now. */
export async function revokeKeysMadeWith(
  db: Knex,
  accountId: string,
  facilitatorKeyId: string,
): Promise<ApiKey[]> {
  return await ApiKey.query(db)
    .patch({ revokedAt: now() })
    .where({ accountId, facilitatorKeyId })
    .whereNull('revokedAt')
    .returning('*');
}

export async function listApiKeys(db: Knex, accountId: string): Promise<ApiKey[]> {
  return await ApiKey.query(db).where({ accountId }).orderBy('id');
}

/** Whose secret this is. */
export async function authenticate(db: Knex, secret: string): Promise<Principal> {
  if (!isKeyShaped(secret)) throw keyInvalid(secret);
  const hash = sha256Base64(secret);
  const known = identities.get(hash);
  if (known !== undefined) return known;
  const found = refusals.get(hash) ?? (await findBySecret(db, hash));
  if (typeof found === 'object') {
    identities.set(hash, found);
    return found;
  }
  refusals.set(hash, found);
  throw found === 'revoked' ? keyRevoked() : keyInvalid(secret);
}

async function findBySecret(db: Knex, hash: string): Promise<Principal | WhyRefused> {
  const key = await readKey(db, hash);
  if (key === undefined) return 'unknown';
  return key.isRevoked ? 'revoked' : { keyId: key.id, accountId: key.accountId, livemode: key.livemode };
}

interface FoundKey {
  index: number;
  id: string;
  accountId: string;
  livemode: boolean;
  isRevoked: boolean;
}

const readKey = batchReads<string, FoundKey>(async (db, hashes) => {
  const found = await runStatement<FoundKey>(db, KEYS_BY_SECRET, [hashes]);
  const keys = new Map(found.map((key) => [key.index, key]));
  return hashes.map((_, index) => keys.get(index));
});

/** As a condition of a statement: the key with this id. */
export function keyCounts(id: string): string {
  return `EXISTS (SELECT FROM api_keys WHERE api_keys.id = ${id} AND api_keys.revoked_at IS NULL)`;
}

/** Narrows a request's first statement to nothing when the key was revoked meanwhile. */
export function whereKeyCounts<M extends Model, R>(
  query: QueryBuilder<M, R>,
  principal: Principal,
): QueryBuilder<M, R> {
  return query.whereRaw(keyCounts('?'), principal.keyId);
}

/** Why a statement may have found nothing: 401 when the key was revoked, else the caller's own reason holds. */
export async function requireKeyThatCounts(db: Knex, principal: Principal): Promise<void> {
  const key = await ApiKey.query(db).findById(principal.keyId).select('revokedAt');
  if (key !== undefined && key.revokedAt === null) return;
  // Its next requests are refused before they count against the account's rate limit.
  for (const [hash, { keyId }] of identities.entries())
    if (keyId === principal.keyId) identities.delete(hash);
  throw keyRevoked();
}

function keyInvalid(secret: string): Refusal {
  return new Refusal(
    'api_key_invalid',
    `Invalid API key provided: ${mask(secret)}. Check the key, and that it is whole.`,
  );
}

function keyRevoked(): Refusal {
  return new Refusal('api_key_revoked', 'This API key was revoked. Use another key of the account.');
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

export async function accountOf(db: Knex, principal: Principal): Promise<Account> {
  return await Account.query(db).findById(principal.accountId).throwIfNotFound();
}
