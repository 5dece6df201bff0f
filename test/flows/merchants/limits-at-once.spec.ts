import assert from 'node:assert/strict';
import { runNode } from '../../../lab/world/processes/processes.js';

/** `npm run chaos`, as its script starts it. The program's checks of speed are for an idle machine. */
const RUN = ['local/commands/chaos.mjs', '--weight', '--mixture', '--seconds', '3'];
const ENDS_WITHIN_MS = 900_000;

describe('one account and one address at all their limits at once', function () {
  this.timeout(ENDS_WITHIN_MS + 30_000);

  it('end no process with a heap of 256 MiB, while another account is served and gets its events', async () => {
    const { stdout, stderr } = await runNode(RUN, { timeoutMs: ENDS_WITHIN_MS });
    const output = `${stdout}\n${stderr}`;
    assert.match(output, /^all at once/m);
    assert.doesNotMatch(output, /BROKEN/, output);
  });
});
