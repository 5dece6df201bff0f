import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../../shared/process/error-code.js';

/** A generated encryption key, kept beside the data that it encrypts. */
export async function localEncryptionKey(folder: string): Promise<string> {
  return await keep(path.join(folder, 'encryption-key'), () => randomBytes(32).toString('base64'));
}

/** A generated signing key, kept so that old receipts stay verifiable. */
export async function localReceiptSigningKey(folder: string): Promise<string> {
  return await keep(path.join(folder, 'receipt-signing-key'), () =>
    generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
  );
}

async function keep(file: string, make: () => string): Promise<string> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, make(), { mode: 0o600, flag: 'wx' });
  try {
    // The complete draft is linked to its final name: of two first starts one creates the key, and both read it.
    await link(draft, file);
  } catch (error) {
    // Not every file system supports links.
    if (!hasCode(error, 'EEXIST')) await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}
