import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';

/** The program itself, as `npm run chaos` starts it; what is too slow is for a machine that has nothing else to do. */
const PROGRAM = path.join(import.meta.dirname, '..', '..', 'local', 'commands', 'chaos.mjs');
const RUN = ['--weight', '--mixture', '--seconds', '8'];
const ENDS_WITHIN_MS = 200_000;

describe('one account and one address, at the edge of all their limits', function () {
  this.timeout(ENDS_WITHIN_MS + 30_000);

  it('end no process with a heap of 256 MiB, and their neighbour is served and told all the same', async () => {
    const output = await run();
    assert.match(output, /^all of it at once/m);
    assert.doesNotMatch(output, /BROKEN/, output);
  });
});

function run(): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...RUN], { timeout: ENDS_WITHIN_MS }, (_error, stdout, stderr) =>
      resolve(`${stdout}\n${stderr}`),
    );
  });
}
