import assert from 'node:assert/strict';
import { nodeProgram } from '../../lab/world/processes/processes.js';
import { runningOutputs, runProgram, StartedProcess } from '../../lab/world/processes/supervisor.js';

const LOGGING = `
  console.log(JSON.stringify({ event: 'started', pid: process.pid }));
  console.error('a warning');
  setInterval(() => {}, 1000);`;

describe('the process supervisor', () => {
  it('waits for a log event, and starts the program again after its end', async () => {
    const started = new StartedProcess(nodeProgram(['--eval', LOGGING], { name: 'logging' }));
    assert.deepEqual(await started.logged('started'), { event: 'started', pid: started.pid });
    assert.deepEqual(await started.stop(), { code: null, signal: 'SIGTERM' });
    const first = started.pid;
    started.startAgain();
    assert.equal((await started.logged('started')).pid, started.pid);
    assert.notEqual(started.pid, first);
    await started.kill();
    assert.deepEqual(await started.exited, { code: null, signal: 'SIGKILL' });
    await assert.rejects(started.logged('never'), /^Error: logging ended before never:\n.*"started"/);
  });

  it('shows the output of processes that run, and of those that have ended lately', async () => {
    const started = new StartedProcess(nodeProgram(['--eval', LOGGING], { name: 'logging' }));
    await started.until('its warning', () => started.errors() || undefined);
    await started.logged('started');
    const shown = (): string | undefined => runningOutputs().find(({ pid }) => pid === started.pid)?.tail;
    assert.equal(shown(), started.output());
    await started.kill();
    assert.match(shown() ?? '', /"started".*\na warning\n$/);
  });

  it('reports a program that fails, and one that does not exist', async () => {
    const failing = { command: '/bin/sh', args: ['-c', 'echo no; exit 3'] };
    await assert.rejects(runProgram(failing), /^Error: sh failed:\nno\n$/);
    await assert.rejects(runProgram({ command: 'no-such-program', args: [] }), /ENOENT/);
  });

  it('ends a Node process with its parent, even after SIGKILL', async () => {
    const { args } = nodeProgram(['--eval', LOGGING]);
    const script = `
      const { spawn } = require('node:child_process');
      spawn(process.execPath, ${JSON.stringify(args)}, { stdio: ['pipe', 'inherit', 'inherit'] });`;
    const parent = new StartedProcess(nodeProgram(['--eval', script]));
    await parent.logged('started');
    parent.child.kill('SIGKILL');
    // The parent's output stays open while the grandchild runs.
    assert.deepEqual(await parent.exited, { code: null, signal: 'SIGKILL' });
  });
});
