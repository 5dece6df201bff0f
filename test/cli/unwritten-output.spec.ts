import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import process from 'node:process';
import { ensureBuilt } from '../../local/build/ensure-built.mjs';
import { projectRoot } from '../../local/toolchain/project-root.js';

describe('the output of a command', () => {
  before(() => ensureBuilt(projectRoot()));

  it('that cannot be written is named, and the exit status is 1', () => {
    // A file that is open for reading only takes nothing, like one on a full disk.
    const output = openSync(new URL(import.meta.url), 'r');
    try {
      const { status, stderr } = spawnSync(process.execPath, ['local/commands/merchants.mjs'], {
        cwd: projectRoot(),
        stdio: ['ignore', output, 'pipe'],
        encoding: 'utf8',
      });
      assert.match(stderr, /^The output could not be written \(.*EBADF.*\)\. What the command has changed/m);
      assert.equal(status, 1);
    } finally {
      closeSync(output);
    }
  });
});
