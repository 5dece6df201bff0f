import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Kept beside the data that it encrypts, for a machine where nothing is configured. */
export async function localEncryptionKey(folder: string): Promise<string> {
  const file = path.join(folder, 'encryption-key');
  try {
    // `wx`: of two first starts at once one writes, and both read what it wrote.
    await writeFile(file, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return (await readFile(file, 'utf8')).trim();
}
