import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';

/** `npm run chaos`, as its script starts it. The program's checks of speed are for an idle machine. */
const PROGRAM = path.join(import.meta.dirname, '..', '..', 'local', 'commands', 'chaos.mjs');
const RUN = ['--weight', '--mixture', '--seconds', '8'];
const ENDS_WITHIN_MS = 200_000;

describe('one account and one address at all their limits at once', function () {
  this.timeout(ENDS_WITHIN_MS + 30_000);

  it('end no process with a heap of 256 MiB, while another account is served and gets its events', async () => {
    const output = await run();
    assert.match(output, /^all at once/m);
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
