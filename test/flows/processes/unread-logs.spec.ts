import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { findFreePort } from '../../../lab/world/http/listen.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  killProcesses,
  startWebProcess,
  startWorkerProcess,
} from '../../../lab/world/processes/processes.js';
import { StartedProcess } from '../../../lab/world/processes/supervisor.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';

/**
 * Requests whose lines are half as many again as the system and the process keep together, with the longest session id that
 * is logged.
 */
const REQUESTS = 5500;
const AT_ONCE = 50;
const VISIT = `GET /c/cs_${'x'.repeat(97)} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe('a process whose log nobody takes', () => {
  const flow = forAllTests(() => openMoneyFlow('unread_logs', { worker: false }));
  afterEach(killProcesses);

  const environment = () => ({ ...flow.settings, CHECK_TOKEN_ACCOUNTS: 'false', LOG_LEVEL: 'info' });

  async function pay(port: number): Promise<void> {
    const { id } = await flow.buildSession();
    const { header } = await flow.sign(id);
    const answer = await fetch(`http://127.0.0.1:${port}/c/${id}`, {
      headers: { 'PAYMENT-SIGNATURE': header },
      signal: AbortSignal.timeout(20_000),
    });
    assert.equal(answer.status, 200, await answer.text());
  }

  it('goes on while the reader stands still, and says afterwards how many lines it has dropped', async () => {
    const web = await startWebProcess(environment());
    const worker = await startWorkerProcess(environment());
    web.child.stdout?.pause();
    worker.child.stdout?.pause();
    await visitOften(web.port);
    await pay(web.port);

    web.child.stdout?.resume();
    // Each line is whole, or could not be parsed.
    await eventually(() => assert.ok(web.lines().some(({ event }) => event === 'log.lines_dropped')));
    assert.ok(Number(web.lines().find(({ event }) => event === 'log.lines_dropped')?.lines) > 0);
    await pay(web.port);
    assert.deepEqual(await web.stop(), { code: 0, signal: null });
    worker.child.stdout?.resume();
    assert.deepEqual(await worker.stop(), { code: 0, signal: null });
  });

  it('goes on when the disk of its log is full, and ends when it is told to', async function () {
    if (process.platform !== 'linux') this.skip();
    const port = await findFreePort();
    const onFullDisk = (file: string): StartedProcess =>
      new StartedProcess({
        command: 'sh',
        args: ['-c', `exec node dist/${file} > /dev/full`],
        environment: { ...environment(), PORT: String(port) },
      });
    const web = onFullDisk('api/server.js');
    const worker = onFullDisk('workers/main.js');
    await eventually(async () => assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200));
    await pay(port);
    for (const one of [web, worker])
      assert.deepEqual(await one.stop(), { code: 0, signal: null }, one.errors());
  });
});

/** Visits on one connection, which costs the client a fraction of so many calls of `fetch`. */
async function visitOften(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').setTimeout(20_000, () => socket.destroy());
  socket.setEncoding('utf8');
  let answered = 0;
  let answers = '';
  socket.write(VISIT.repeat(AT_ONCE));
  for await (const text of socket) {
    answers += text;
    if (answers.split('HTTP/1.1 404 ').length <= AT_ONCE) continue;
    answered += AT_ONCE;
    if (answered >= REQUESTS) return;
    answers = '';
    socket.write(VISIT.repeat(AT_ONCE));
  }
  assert.fail(`only ${answered} visits were answered`);
}
