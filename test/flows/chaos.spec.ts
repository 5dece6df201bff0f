import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';

/** `npm run chaos`, as its script starts it. */
const PROGRAM = path.join(import.meta.dirname, '..', '..', 'local', 'commands', 'chaos.mjs');
/**
 * One minute of faults, then at most two and a half minutes until every payment is decided. A run with Solana
 * would take five minutes, because a transaction that never lands is given up only after three.
 */
const RUN = ['--payments', '100', '--minutes', '1', '--seed', '20261121', '--solana', '0'];
/** Faults that every run injects, even on a slow machine. */
const DONE = [/ SIGKILL/, / SIGTERM/, / SIGSTOP/, / connections to Postgres frozen/, / the evm endpoint /];

describe('a hundred payments during process kills, freezes and connection faults', function () {
  this.timeout(360_000);

  it('are each paid once and recorded, with one event each, soon after the faults end', async () => {
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
