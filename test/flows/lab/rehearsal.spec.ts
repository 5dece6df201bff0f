import assert from 'node:assert/strict';
import { runNode } from '../../../lab/world/processes/processes.js';

/** `npm run rehearse`, as its script starts it. */
const RUN = ['local/commands/rehearse.mjs', '--seconds', '1', '--short'];
const ENDS_WITHIN_MS = 900_000;

describe('a deployment as the documentation describes it', function () {
  this.timeout(ENDS_WITHIN_MS + 30_000);

  it('sells during a release, while processes are killed, and without Redis', async () => {
    const { code, stdout, stderr } = await runNode(RUN, { timeoutMs: ENDS_WITHIN_MS });
    assert.equal(code, 0, `${stdout}\n${stderr}`);
    assert.match(stdout, /sessions, each paid once and notified/);
  });
});
