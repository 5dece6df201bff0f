import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { type FileHandle, mkdir, mkdtemp, open, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';
import { manifestOf, type Part, publishPart } from '../../../shared/archive/write-part.js';

describe('a part of an archive that gets its place', () => {
  let base: string;
  beforeEach(async () => {
    base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'publish-part-spec-')));
  });
  afterEach(async () => {
    mock.restoreAll();
    await rm(base, { recursive: true });
  });

  it('has its names on disk, and those of the folders above, whoever made them', async () => {
    const part: Part = { month: '2026-01', part: 1, written_at: '2026-02-01T00:00:00.000Z', files: [] };
    const folder = path.join(base, 'a', 'b');
    const unfinished = path.join(folder, 'unfinished');
    await mkdir(unfinished, { recursive: true });
    await writeFile(path.join(unfinished, manifestOf(part)), '{}');
    const handle = await open(base, 'r');
    await handle.close();
    const synced: string[] = [];
    mock.method(Object.getPrototypeOf(handle), 'sync', async function (this: FileHandle) {
      synced.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    });
    await publishPart(part, unfinished, folder);
    assert.deepEqual(synced.slice(0, 3), [folder, path.dirname(folder), base]);
  });
});
