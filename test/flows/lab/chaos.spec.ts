import assert from 'node:assert/strict';
import { runNode } from '../../../lab/world/processes/processes.js';

/** `npm run chaos`, as its script starts it. */
const PROGRAM = 'local/commands/chaos.mjs';
/**
 * A minute of faults, then at most two and a half minutes until every payment is decided. A run with Solana would take five
 * minutes, because a transaction that never lands is given up only after three.
 */
const RUN = ['--payments', '100', '--minutes', '1', '--seed', '20261121', '--solana', '0'];
/** Faults that every run injects, even on a slow machine. */
const DONE = [/ SIGKILL/, / SIGTERM/, / SIGSTOP/, / connections to Postgres frozen/, / the evm endpoint /];

describe('a hundred payments during process kills, freezes and connection faults', function () {
  this.timeout(900_000);

  it('are each paid once and recorded, with one event each, soon after the faults end', async () => {
    const { code, stdout, stderr } = await runNode([PROGRAM, ...RUN]);
    const output = `${stdout}\n${stderr}`;
    assert.equal(code, 0, output);
    for (const done of DONE) assert.match(output, done);
    const [, moved = '0'] = /; (\d+) moved money/.exec(output) ?? [];
    assert.ok(Number(moved) > 10, output);
  });
});
