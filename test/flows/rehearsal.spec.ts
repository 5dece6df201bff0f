import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';

/** `npm run rehearse`, as its script starts it. */
const PROGRAM = path.join(import.meta.dirname, '..', '..', 'local', 'commands', 'rehearse.mjs');
const RUN = ['--seconds', '1'];
const ENDS_WITHIN_MS = 300_000;

describe('a deployment as the documentation describes it', function () {
  this.timeout(ENDS_WITHIN_MS + 30_000);

  it('sells during a release, while processes are killed, and without Redis', async () => {
    const { code, output } = await run();
    assert.equal(code, 0, output);
    assert.match(output, /sessions, each paid once and notified/);
  });
});

function run(): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [PROGRAM, ...RUN],
      { timeout: ENDS_WITHIN_MS },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? 1, output: `${stdout}\n${stderr}` }),
    );
  });
}
