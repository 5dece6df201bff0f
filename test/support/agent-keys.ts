import { randomUUID } from 'node:crypto';
import { ApiKey } from '../../shared/accounts/model.js';
import type { Knex } from '../../shared/db/knex.js';
import { sha256 } from '../../shared/secrets/secrets.js';
import { lowestIdAt, randomText } from '../../shared/values/ids.js';
import { assertUnauthenticated, client, type Signer } from './api-client.js';
import type { TestApp } from './app.js';

/** Inserts keys that an agent created at this time. */
export async function insertAgentKeys(
  db: Knex,
  signer: Signer,
  count: number,
  madeAtMs: number,
): Promise<void> {
  const rows = Array.from({ length: count }, () => ({
    id: `${lowestIdAt('key_', madeAtMs)}${randomText(20)}`,
    accountId: signer.accountId,
    livemode: true,
    name: 'Earlier',
    secretSha256: sha256(randomUUID()),
    facilitatorKeyId: signer.keyId,
    revokedAt: null,
  }));
  await ApiKey.query(db).insert(rows);
}

export async function assertInvalidToken(app: TestApp, token: string): Promise<void> {
  assertUnauthenticated(await client(app, token).post('/v1/keys'), 'token_invalid');
}
