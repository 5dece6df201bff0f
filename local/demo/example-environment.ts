import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { findPrincipal } from '../../shared/accounts/api-keys.js';
import { addFacilitatorKey } from '../../shared/accounts/facilitator-keys.js';
import type { Knex } from '../../shared/db/knex.js';
import { explainSecret, parseFacilitatorSecret } from '../../shared/secrets/facilitator-secret.js';

/** The values of this start that the programs in examples/ need. */
interface ExampleFacts {
  baseUrl: string;
  testKey: string;
  /** The key of a wallet that holds money on the sandbox's chains. */
  buyerKey: string | undefined;
}

/**
 * Writes `examples.env`, with a facilitator key that is registered for the demo merchant, so that agents can sign up
 * without an operator. The key is the same at every start.
 */
export async function writeExampleEnvironment(
  db: Knex,
  folder: string,
  { baseUrl, testKey, buyerKey }: ExampleFacts,
): Promise<void> {
  const file = path.join(folder, 'examples.env');
  const { accountId } = await findPrincipal(db, testKey);
  const secret = (await keptSecret(file)) ?? newSecret();
  const publicKey = createPublicKey(parseFacilitatorSecret('svc', secret));
  // A key id belongs to one account, and the database may be another one than last time: so the id contains the
  // account's.
  const keyId = `demo_${accountId}`;
  await addFacilitatorKey(db, {
    accountId,
    keyId,
    publicKey: publicKey.export({ format: 'der', type: 'spki' }),
  });
  const facts = {
    CHECKOUT_URL: baseUrl,
    CHECKOUT_KEY: testKey,
    AGENT_KEY_ID: keyId,
    AGENT_KEY_SECRET: secret,
    ...(buyerKey !== undefined && { BUYER_KEY: buyerKey }),
  };
  const lines = Object.entries(facts).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(file, lines.join(''), { mode: 0o600 });
}

/** Undefined on the first start, and when the file is damaged. */
async function keptSecret(file: string): Promise<string | undefined> {
  try {
    const { AGENT_KEY_SECRET: secret = '' } = parseEnv(await readFile(file, 'utf8'));
    return explainSecret('svc', secret) === undefined ? secret : undefined;
  } catch {
    return undefined;
  }
}

function newSecret(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return `svc_sk_${privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')}`;
}
