import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createAccount } from '../../shared/accounts/accounts.js';
import { createApiKey, findPrincipal } from '../../shared/accounts/api-keys.js';
import type { Knex } from '../../shared/db/knex.js';
import { Refusal } from '../../shared/errors/refusal.js';

/** The sandbox has the keys of these wallets, for the refunds that the demo merchant pays. */
export const EVM_WALLET = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720';
export const SOLANA_WALLET = 'BsdjwmGzmw2SamRN9FVAwzz7nULyj7amY94QRU1bZmZ';

/**
 * The demo merchant's test key. Postgres has only its hash, so the key is kept in a file beside the data. When the file
 * does not match the database (an emptied or another one), a new merchant is created, and `prepare` is called for it.
 */
export async function demoMerchantKey(
  db: Knex,
  folder: string,
  prepare: (trx: Knex, accountId: string) => Promise<void>,
): Promise<string> {
  const file = path.join(folder, 'demo-merchant.json');
  const kept = await readKey(file);
  if (kept !== undefined && (await isKnown(db, kept))) return kept;
  const secret = await db.transaction(async (trx) => {
    const account = await createAccount(trx, {
      name: 'Demo merchant',
      evmWallet: EVM_WALLET,
      solanaWallet: SOLANA_WALLET,
      logoUrl: null,
      brandColor: null,
      supportEmail: null,
    });
    const key = await createApiKey(trx, { accountId: account.id, livemode: false, name: 'Demo key' });
    await prepare(trx, account.id);
    return key.secret;
  });
  await writeFile(file, `${JSON.stringify({ testKey: secret })}\n`, { mode: 0o600 });
  return secret;
}

async function readKey(file: string): Promise<string | undefined> {
  try {
    const { testKey }: { testKey?: unknown } = JSON.parse(await readFile(file, 'utf8'));
    return typeof testKey === 'string' ? testKey : undefined;
  } catch {
    // The file is missing on the first start, or damaged: a new merchant is created.
    return undefined;
  }
}

async function isKnown(db: Knex, key: string): Promise<boolean> {
  try {
    await findPrincipal(db, key);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
