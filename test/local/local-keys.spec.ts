import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { localEncryptionKey, localReceiptSigningKey } from '../../local/service/local-keys.js';
import { loadConfig } from '../../shared/config/config.js';

describe('the keys of a machine where nothing is configured', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'local-keys-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  for (const [variable, keyOf] of Object.entries({
    ENCRYPTION_KEY: localEncryptionKey,
    RECEIPT_SIGNING_KEYS: localReceiptSigningKey,
  })) {
    it(`${variable} is created once, even by two first starts at once, and readable by its owner only`, async () => {
      const made = await Promise.all([keyOf(folder), keyOf(folder)]);
      assert.deepEqual(made, [made[0], made[0]]);
      assert.equal(await keyOf(folder), made[0]);
      const [name = ''] = await readdir(folder);
      assert.equal((await stat(path.join(folder, name))).mode & 0o777, 0o600);
    });

    it(`${variable} is accepted by the service`, async () => {
      const settings = { DATABASE_URL: 'postgres://x', FACILITATOR_URL: 'http://x' };
      const config = loadConfig({ ...settings, [variable]: await keyOf(folder) }, 'web');
      const keys = { ENCRYPTION_KEY: config.encryptionKeys, RECEIPT_SIGNING_KEYS: config.receiptSigningKeys };
      assert.equal(keys[variable as keyof typeof keys].length, 1);
    });
  }
});
