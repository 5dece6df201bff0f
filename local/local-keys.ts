import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Kept beside the data that it encrypts, for a machine where nothing is configured. */
export async function localEncryptionKey(folder: string): Promise<string> {
  return await keep(path.join(folder, 'encryption-key'), () => randomBytes(32).toString('base64'));
}

/** So that receipts of yesterday can still be checked today. */
export async function localReceiptSigningKey(folder: string): Promise<string> {
  return await keep(path.join(folder, 'receipt-signing-key'), () =>
    generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
  );
}

async function keep(file: string, make: () => string): Promise<string> {
  try {
    // `wx`: of two first starts at once one writes, and both read what it wrote.
    await writeFile(file, make(), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return (await readFile(file, 'utf8')).trim();
}
