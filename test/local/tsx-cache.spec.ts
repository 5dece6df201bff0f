import assert from 'node:assert/strict';
import { nodeProgram } from '../../lab/world/processes/processes.js';
import { StartedProcess } from '../../lab/world/processes/supervisor.js';

describe('a command that runs from its sources', () => {
  it('does without the cache of tsx where no temporary folder can be made', async () => {
    const args = ['local/commands/pay.mjs', 'http://127.0.0.1:1/c/cs_test_none'];
    const environment = { TMPDIR: '/dev/null/tmp' };
    const { code, stderr } = await new StartedProcess(nodeProgram(args, { environment })).ran();
    assert.match(stderr, /^Cannot connect to http:\/\/127\.0\.0\.1:1 [^\n]+\n$/);
    assert.equal(code, 1);
  });
});
