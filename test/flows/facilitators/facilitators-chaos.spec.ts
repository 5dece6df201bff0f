import assert from 'node:assert/strict';
import { runNode } from '../../../lab/world/processes/processes.js';

const RUN = ['local/commands/chaos.mjs', '--facilitators', '--payments', '24', '--seed', '20261126'];

describe('payments while one of two facilitators dies, hangs, lies or is slow', function () {
  this.timeout(600_000);

  it('are answered 503 where only it serves the network, and each movement of money is one paid session', async () => {
    const { code, stdout, stderr } = await runNode(RUN);
    const output = `${stdout}\n${stderr}`;
    assert.equal(code, 0, output);
    assert.match(output, /the first hangs: eip155:1952 1 of 1 answered 503/);
    assert.match(output, /the second dies: eip155:80002 1 of 1 answered 503/);
    assert.match(output, /27 payments, 27 moved money, 27 succeeded, 27 events/);
  });
});
