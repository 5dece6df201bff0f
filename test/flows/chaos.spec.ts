import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';

/** The program itself, as `npm run chaos` starts it. */
const PROGRAM = path.join(import.meta.dirname, '..', '..', 'local', 'commands', 'chaos.mjs');
/**
 * A minute of trouble, and at most two and a half until all is well; on Solana that would be five, since a transaction
 * that never lands is only given up after three.
 */
const RUN = ['--payments', '100', '--minutes', '1', '--seed', '20261121', '--solana', '0'];
/** What was surely done to the service meanwhile, however slow the machine. */
const DONE = [/ SIGKILL/, / SIGTERM/, / SIGSTOP/, / connections to Postgres frozen/, / the evm endpoint /];

describe('a hundred payments while processes are killed and everything breaks', function () {
  this.timeout(360_000);

  it('are each paid once, recorded and told, soon after everything has healed', async () => {
    const { code, output } = await run();
    assert.equal(code, 0, output);
    for (const done of DONE) assert.match(output, done);
    const [, moved = '0'] = /; (\d+) moved money/.exec(output) ?? [];
    assert.ok(Number(moved) > 10, output);
  });
});

function run(): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, ...RUN], (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? 1, output: `${stdout}\n${stderr}` }),
    );
  });
}
