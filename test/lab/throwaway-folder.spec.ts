import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { makeThrowawayFolder, removeAbandoned } from '../../lab/world/processes/throwaway-folder.js';

describe('a folder for data that need not outlive its process', () => {
  it('is removed when its process has ended without removing it, and no other is', async () => {
    const ended = spawn(process.execPath, ['--version']);
    await once(ended, 'exit');
    const parent = await mkdtemp(path.join(os.tmpdir(), 'throwaway-spec-'));
    const running = `stablecoin-checkout-test-${process.pid}-a`;
    for (const name of [running, `stablecoin-checkout-test-${ended.pid}-b`, `other-${ended.pid}-c`])
      await mkdir(path.join(parent, name, 'postgres'), { recursive: true });
    await removeAbandoned(parent);
    assert.deepEqual((await readdir(parent)).sort(), [`other-${ended.pid}-c`, running]);
    await rm(parent, { recursive: true });
  });

  it('has the id of its process in its name', async () => {
    const folder = await makeThrowawayFolder();
    assert.match(path.basename(folder), new RegExp(`^stablecoin-checkout-test-${process.pid}-`));
    await rm(folder, { recursive: true });
  });
});
