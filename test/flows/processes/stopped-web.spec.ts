import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { findFreePort } from '../../../lab/world/http/listen.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { killProcesses, type WebServiceProcess } from '../../../lab/world/processes/processes.js';
import { buildSessions } from '../../../lab/world/shop/factories.js';
import { POOL_SHARES } from '../../../shared/limits/bounds.js';
import { forAllTests } from '../../support/hooks.js';
import { minimal, SESSIONS } from '../../support/orders.js';
import { newKey, openWebProcesses, untilGone, untilRefused } from '../../support/web-process.js';

const COUNT = 20;
/** Identifies a process's connections to Postgres. */
const APPLICATION = 'web_of_a_spec';
/** Connections in the kernel's backlog of a stopped process. */
const QUEUED = 200;
const READY = { database: 'ok', migrations: 'ok', queue_store: 'ok', clock: 'ok' };

describe('a web process', () => {
  const processes = forAllTests(() => openWebProcesses('stopped_web'));
  afterEach(killProcesses);

  /** Waits, because a process listens before its connection to Redis is ready. */
  async function untilReadyzSays(web: WebServiceProcess, status: number, body: object): Promise<void> {
    await eventually(async () => {
      const answer = await processes.send(web.port, 'GET', '/readyz');
      assert.deepEqual([answer.status, JSON.parse(answer.text)], [status, body]);
    });
  }

  describe('told to stop', () => {
    it('by SIGTERM during a request, and before others on open connections: answers all with Connection: close, and exits with 0', async () => {
      const web = await processes.start();
      const commits = await processes.holdCommits();
      const [agent, idle] = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })];
      const sockets = [connect(web.port, '127.0.0.1'), connect(web.port, '127.0.0.1')];
      const [used = assert.fail()] = sockets;
      const ask = (socket: Socket) => socket.write('GET /healthz HTTP/1.1\r\nHost: pay.example\r\n\r\n');
      try {
        await Promise.all(sockets.map((socket) => once(socket, 'connect')));
        const { headers: kept } = await processes.send(web.port, 'GET', '/healthz', { agent: idle });
        assert.equal(kept.connection, 'keep-alive');
        // Both connections have been accepted when the first is answered.
        ask(used);
        await once(used, 'data');
        const answer = processes.send(web.port, 'POST', SESSIONS, { body: minimal, agent });
        try {
          await commits.waiting(1);
          web.child.kill('SIGTERM');
          await untilRefused(web.port);
          const late = sockets.map((socket) => text(socket));
          for (const socket of sockets) ask(socket);
          for (const one of await Promise.all(late))
            assert.match(one, /^HTTP\/1\.1 200 OK\r\n(.*\r\n)*Connection: close\r\n/i);
          assert.equal(web.child.exitCode, null);
        } finally {
          await commits.release();
        }
        const { status, headers } = await answer;
        assert.equal(status, 200);
        // The process would otherwise wait for a connection that its client keeps, and accept a next request on it.
        assert.equal(headers.connection, 'close');
        assert.deepEqual(await web.exited, { code: 0, signal: null });
        assert.equal(web.errors(), '');
        const [finished, stopping] = ['request.finished', 'process.stopping'];
        assert.deepEqual(
          web.lines().map(({ event }) => event),
          [
            ...['service.starting', 'config.development_key', 'web.listening'],
            ...[finished, finished, stopping, finished, finished, finished],
          ],
        );
      } finally {
        for (const one of [...sockets, agent, idle]) one.destroy();
      }
    });

    it('by SIGINT and then by SIGTERM, under load: answers every request that it has accepted', async () => {
      const web = await processes.start({ DATABASE_POOL_SIZE: String(POOL_SHARES * COUNT) });
      const open = await buildSessions(processes.db, processes.shop.accountId, COUNT);
      const commits = await processes.holdCommits();
      // Expires have one transaction each; simultaneous creates would share one.
      const answers = open.map(({ id }) =>
        processes.send(web.port, 'POST', `${SESSIONS}/${id}/expire`, { key: newKey() }),
      );
      try {
        await commits.waiting(COUNT);
        web.child.kill('SIGINT');
        await untilRefused(web.port);
        // The second signal changes nothing.
        web.child.kill('SIGTERM');
      } finally {
        await commits.release();
      }
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      assert.deepEqual(
        statuses,
        Array.from({ length: COUNT }, () => 200),
      );
      assert.deepEqual(await web.exited, { code: 0, signal: null });
    });

    async function sendWithoutReading(port: number): Promise<Socket> {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      const request = 'GET /healthz HTTP/1.1\r\nHost: pay.example\r\nConnection: close\r\n\r\n';
      await new Promise<void>((resolve) => socket.write(request, () => resolve()));
      return socket;
    }

    it('after it was frozen: answers every connection that came in the meantime', async () => {
      const web = await processes.start();
      web.child.kill('SIGSTOP');
      // The kernel has accepted each connection, with its request, while the process is stopped.
      const sockets = await Promise.all(Array.from({ length: QUEUED }, () => sendWithoutReading(web.port)));
      web.child.kill('SIGTERM');
      web.child.kill('SIGCONT');
      const answers = await Promise.all(sockets.map((socket) => text(socket)));
      for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
      assert.deepEqual(await web.exited, { code: 0, signal: null });
    });

    it('behind a balancer: answers new connections until the balancer has seen its /readyz fail', async () => {
      const web = await processes.start();
      await untilReadyzSays(web, 200, { status: 'ready', ...READY });
      web.child.kill('SIGTERM');
      await untilReadyzSays(web, 503, { status: 'stopping', ...READY });
      const { status, headers } = await processes.send(web.port, 'POST', SESSIONS, { body: minimal });
      assert.deepEqual([status, headers.connection], [200, 'close']);
      await untilRefused(web.port);
      assert.deepEqual(await web.exited, { code: 0, signal: null });
    });
  });

  it('goes on after the database has closed its connections', async () => {
    const web = await processes.start({ PGAPPNAME: APPLICATION });
    await untilReadyzSays(web, 200, { status: 'ready', ...READY });
    const { rows } = await processes.db.raw('SELECT pid FROM pg_stat_activity WHERE application_name = ?', [
      APPLICATION,
    ]);
    const theirs = rows.map(({ pid }: { pid: number }) => pid);
    assert.ok(theirs.length > 0);
    for (const pid of theirs) await processes.db.raw('SELECT pg_terminate_backend(?)', [pid]);
    await eventually(async () => {
      assert.equal((await processes.send(web.port, 'POST', SESSIONS, { body: minimal })).status, 200);
    });
    // During a commit, the answer is a 503 that may be retried, and the retry carries the request out.
    const [create = assert.fail()] = await processes.prepareEffects();
    const commits = await processes.holdCommits();
    try {
      const failed = processes.post(web.port, create);
      const waiting = await commits.waiting(1);
      for (const pid of waiting) await processes.db.raw('SELECT pg_terminate_backend(?)', [pid]);
      const { status, text: body } = await failed;
      assert.deepEqual([status, JSON.parse(body).error.code], [503, 'service_unavailable']);
      await untilGone(processes.db, waiting);
    } finally {
      await commits.release();
    }
    assert.equal(await create.count(), 0);
    const retry = await processes.post(web.port, create);
    assert.deepEqual([retry.status, retry.headers['idempotent-replayed']], [200, undefined]);
    assert.equal(await create.count(), 1);
  });

  /** test/flows/processes/readiness.spec.ts has Redis alone, without which a process is ready. */
  it('without Postgres and Redis is alive, not ready, answers 503 in its error format, and logs no password', async () => {
    const url = `postgres://user:pass-word@127.0.0.1:${await findFreePort()}/nowhere`;
    const web = await processes.start({
      DATABASE_URL: url,
      REDIS_URL: `redis://:pass-word@127.0.0.1:${await findFreePort()}`,
    });
    const down = { database: 'down', migrations: 'unknown', queue_store: 'down', degraded: 'queue store' };
    await untilReadyzSays(web, 503, { status: 'not_ready', ...READY, ...down });
    assert.equal((await processes.send(web.port, 'GET', '/healthz')).status, 200);
    const refused = await processes.send(web.port, 'GET', SESSIONS);
    assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '5']);
    const { type, code, request_id: requestId } = JSON.parse(refused.text).error;
    assert.deepEqual(
      [type, code, requestId],
      ['api_error', 'service_unavailable', refused.headers['request-id']],
    );
    assert.doesNotMatch(refused.text, /127\.0\.0\.1|ECONN|nowhere/);
    const [warning, ...more] = web.lines().filter(({ event }) => event === 'database.not_reached');
    assert.match(String(warning?.hint), /^The database of DATABASE_URL cannot be used: connect ECONNREFUSED/);
    assert.deepEqual(more, []);
    assert.deepEqual(await web.stop(), { code: 0, signal: null });
    assert.doesNotMatch(web.output() + web.errors(), /pass-word/);
    const lines = web.output().split('\n');
    assert.deepEqual(
      lines.filter((line) => line !== '' && !line.startsWith('{"level":')),
      [],
    );
  });
});
