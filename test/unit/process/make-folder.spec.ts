import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { makeFolder } from '../../../shared/process/make-folder.js';

describe('makeFolder', () => {
  let base: string;
  beforeEach(async () => {
    base = await mkdtemp(path.join(os.tmpdir(), 'make-folder-spec-'));
  });
  afterEach(() => rm(base, { recursive: true }));

  it('makes what is missing above, with the mode, also twice and at once', async () => {
    for (let round = 0; round < 50; round += 1) {
      const folder = path.join(base, `${round}`, 'a', 'b');
      await Promise.all(Array.from({ length: 10 }, () => makeFolder(folder, 0o700)));
      await makeFolder(folder, 0o700);
      for (const made of [folder, path.dirname(folder)]) {
        assert.equal((await stat(made)).mode & 0o777, 0o700);
      }
    }
  });

  it('refuses the name of a file, and a place below one', async () => {
    const file = path.join(base, 'file');
    await writeFile(file, '');
    await assert.rejects(makeFolder(file), { code: 'EEXIST' });
    await assert.rejects(makeFolder(path.join(file, 'a')), { code: 'ENOTDIR' });
  });

  it('ends with what the system says where a folder that exists takes no other', async () => {
    // macOS has no /proc, and its root is read-only.
    for (const place of ['/proc/archive', '/proc/archive/2023']) {
      await assert.rejects(makeFolder(place), /^Error: (ENOENT|EROFS): .*, mkdir '\/proc/);
    }
  });
});
