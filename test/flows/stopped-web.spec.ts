import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { closedPort } from '../../lab/world/processes/closed-port.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { killProcesses, startProcess, type WebServiceProcess } from '../../lab/world/processes/processes.js';
import { buildSessions } from '../../lab/world/shop/factories.js';
import { openMoneyFlow } from '../support/money-flow.js';
import { createDatabase } from '../support/suite.js';
import {
  MINIMAL,
  newKey,
  openWebProcesses,
  SESSIONS,
  untilGone,
  untilRefused,
  type WebProcesses,
} from '../support/web-process.js';

const CROWD = 20;
/** What tells a process's connections to Postgres from ours. */
const APPLICATION = 'web_of_a_spec';
/** Whom the kernel keeps for a process that stands still. */
const WAITING = 200;
const READY = { database: 'ok', migrations: 'ok', queue_store: 'ok', clock: 'ok' };

describe('a web process', () => {
  let processes: WebProcesses;
  before(async () => {
    processes = await openWebProcesses('stopped_web');
  });
  after(() => processes.close());
  afterEach(killProcesses);

  /** A process listens before Redis has answered its first hello. */
  async function untilReadyzSays(web: WebServiceProcess, status: number, body: object): Promise<void> {
    await eventually(async () => {
      const answer = await processes.send(web.port, 'GET', '/readyz');
      assert.deepEqual([answer.status, JSON.parse(answer.text)], [status, body]);
    });
  }

  describe('told to stop', () => {
    it('by SIGTERM while a request is in flight: answers it and exits 0, idle connections or not', async () => {
      const web = await processes.start();
      const idle = new Agent({ keepAlive: true });
      const commits = await processes.holdCommits();
      try {
        assert.equal(
          (await processes.send(web.port, 'GET', '/healthz', { agent: idle })).headers.connection,
          'keep-alive',
        );
        const answer = processes.send(web.port, 'POST', SESSIONS, { body: MINIMAL, key: newKey() });
        try {
          await commits.waiting(1);
          web.child.kill('SIGTERM');
          await untilRefused(web.port);
          assert.equal(web.child.exitCode, null);
        } finally {
          await commits.release();
        }
        assert.equal((await answer).status, 200);
        assert.deepEqual(await web.exited, { code: 0, signal: null });
        assert.equal(web.errors(), '');
        assert.deepEqual(
          web.lines().map(({ event }) => event),
          [
            'service.starting',
            'config.development_key',
            'web.listening',
            'request.finished',
            'process.stopping',
            'request.finished',
          ],
        );
      } finally {
        idle.destroy();
      }
    });

    it('while a request of a client that keeps connections is in flight: tells it that this one ends', async () => {
      const web = await processes.start();
      const agent = new Agent({ keepAlive: true });
      const commits = await processes.holdCommits();
      try {
        const answer = processes.send(web.port, 'POST', SESSIONS, { body: MINIMAL, agent });
        try {
          await commits.waiting(1);
          web.child.kill('SIGTERM');
          await untilRefused(web.port);
        } finally {
          await commits.release();
        }
        const { status, headers } = await answer;
        assert.equal(status, 200);
        // Else the process waits for a connection that its client keeps for the next request, and takes that one too.
        assert.equal(headers.connection, 'close');
        assert.deepEqual(await web.exited, { code: 0, signal: null });
      } finally {
        agent.destroy();
      }
    });

    it('under load: answers every request that it has taken', async () => {
      const web = await processes.start({ DATABASE_POOL_SIZE: String(CROWD) });
      const open = await buildSessions(processes.db, processes.shop.accountId, CROWD);
      const commits = await processes.holdCommits();
      // Each is a transaction of its own; creates of one moment would share theirs.
      const answers = open.map(({ id }) =>
        processes.send(web.port, 'POST', `${SESSIONS}/${id}/expire`, { key: newKey() }),
      );
      try {
        await commits.waiting(CROWD);
        web.child.kill('SIGTERM');
        await untilRefused(web.port);
      } finally {
        await commits.release();
      }
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      assert.deepEqual(
        statuses,
        Array.from({ length: CROWD }, () => 200),
      );
      assert.deepEqual(await web.exited, { code: 0, signal: null });
    });

    async function askWithoutWaiting(port: number): Promise<Socket> {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      const request = 'GET /healthz HTTP/1.1\r\nHost: pay.example\r\nConnection: close\r\n\r\n';
      await new Promise<void>((resolve) => socket.write(request, () => resolve()));
      return socket;
    }

    it('after it stood still: answers everybody who came meanwhile', async () => {
      const web = await processes.start();
      web.child.kill('SIGSTOP');
      // Whatever the machine has to do: each has been let in by the kernel, and what it asks is there.
      const sockets = await Promise.all(Array.from({ length: WAITING }, () => askWithoutWaiting(web.port)));
      web.child.kill('SIGTERM');
      web.child.kill('SIGCONT');
      const answers = await Promise.all(sockets.map((socket) => text(socket)));
      for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
      assert.deepEqual(await web.exited, { code: 0, signal: null });
    });

    it('while a request is still on its way: answers it, the last of its connection', async () => {
      const web = await processes.start();
      const [socket, other] = [connect(web.port, '127.0.0.1'), connect(web.port, '127.0.0.1')];
      await Promise.all([once(socket, 'connect'), once(other, 'connect')]);
      // Both connections have been accepted when the first is answered.
      socket.write('GET /healthz HTTP/1.1\r\nHost: pay.example\r\n\r\n');
      await once(socket, 'data');
      web.child.kill('SIGTERM');
      await untilRefused(web.port);
      const answers = [socket, other].map((each) => text(each));
      for (const each of [socket, other]) each.write('GET /healthz HTTP/1.1\r\nHost: pay.example\r\n\r\n');
      for (const answer of await Promise.all(answers)) {
        assert.match(answer, /^HTTP\/1\.1 200 OK\r\n(.*\r\n)*Connection: close\r\n/i);
      }
      assert.deepEqual(await web.exited, { code: 0, signal: null });
    });

    it('while a payment waits for its outcome: answers 202 at once', async () => {
      const flow = await openMoneyFlow('stopped_web_paying', { worker: false });
      try {
        const { id } = await flow.buildSession();
        const { header } = await flow.sign(id);
        const web = await processes.start({
          DATABASE_URL: flow.databaseUrl,
          FACILITATOR_URL: flow.facilitator.url,
          SETTLE_WAIT_MS: '120000',
        });
        const paying = fetch(`http://127.0.0.1:${web.port}/c/${id}`, {
          headers: { 'PAYMENT-SIGNATURE': header },
        });
        await eventually(async () => assert.equal((await flow.state(id)).session, 'processing'));
        web.child.kill('SIGTERM');
        const answer = await paying;
        assert.deepEqual([answer.status, answer.headers.get('retry-after')], [202, '2']);
        assert.deepEqual(await web.exited, { code: 0, signal: null });
      } finally {
        await flow.close();
      }
    });

    it('by SIGINT and again by SIGTERM: a second signal is the first one again', async () => {
      const web = await processes.start();
      const commits = await processes.holdCommits();
      const answer = processes.send(web.port, 'POST', SESSIONS, { body: MINIMAL });
      try {
        await commits.waiting(1);
        web.child.kill('SIGINT');
        await untilRefused(web.port);
        web.child.kill('SIGTERM');
      } finally {
        await commits.release();
      }
      assert.equal((await answer).status, 200);
      assert.deepEqual(await web.exited, { code: 0, signal: null });
    });
  });

  it('serves on after the database has cut its connections, idle or not; its port is its own', async () => {
    const web = await processes.start({ PGAPPNAME: APPLICATION });
    await untilReadyzSays(web, 200, { status: 'ready', ...READY });
    const { rows } = await processes.db.raw('SELECT pid FROM pg_stat_activity WHERE application_name = ?', [
      APPLICATION,
    ]);
    const theirs = rows.map(({ pid }: { pid: number }) => pid);
    assert.ok(theirs.length > 0);
    for (const pid of theirs) await processes.db.raw('SELECT pg_terminate_backend(?)', [pid]);
    await eventually(async () => {
      assert.equal((await processes.send(web.port, 'POST', SESSIONS, { body: MINIMAL })).status, 200);
    });
    // Now in the midst of a commit: the answer is a 500 that may be retried, and the retry does it.
    const [create = assert.fail()] = await processes.prepareEffects();
    const commits = await processes.holdCommits();
    try {
      const failed = processes.post(web.port, create);
      const waiting = await commits.waiting(1);
      for (const pid of waiting) await processes.db.raw('SELECT pg_terminate_backend(?)', [pid]);
      const { status, text: body } = await failed;
      assert.deepEqual([status, JSON.parse(body).error.code], [500, 'internal_error']);
      await untilGone(processes.db, waiting);
    } finally {
      await commits.release();
    }
    assert.equal(await create.count(), 0);
    const retry = await processes.post(web.port, create);
    assert.deepEqual([retry.status, retry.headers['idempotent-replayed']], [200, undefined]);
    assert.equal(await create.count(), 1);

    const second = await startProcess('api/server', { ...processes.environment, PORT: String(web.port) });
    assert.deepEqual(await second.exited, { code: 1, signal: null });
    assert.match(second.errors(), /EADDRINUSE/);
    assert.equal(web.child.exitCode, null);
  });

  describe('says what is down', () => {
    /** With exit status 0, nothing but JSON lines behind it, and no password in them. */
    async function assertStopsQuietly(web: WebServiceProcess): Promise<void> {
      web.child.kill('SIGTERM');
      assert.deepEqual(await web.exited, { code: 0, signal: null });
      assert.doesNotMatch(web.output() + web.errors(), /pass-word/);
      const odd = web
        .output()
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('{"level":'));
      assert.deepEqual(odd, []);
    }

    it('Redis: ready all the same, since merchants and buyers are served without it', async () => {
      const web = await processes.start({ REDIS_URL: `redis://:pass-word@127.0.0.1:${await closedPort()}` });
      const degraded = { degraded: 'queue store', queue_store: 'down' };
      await untilReadyzSays(web, 200, { status: 'ready', ...READY, ...degraded });
      assert.equal((await processes.send(web.port, 'GET', '/healthz')).status, 200);
      assert.equal((await processes.send(web.port, 'POST', SESSIONS, { body: MINIMAL })).status, 200);
      await assertStopsQuietly(web);
    });

    it('Postgres: not ready but alive, and the API answers 500 in its own form', async () => {
      const url = `postgres://user:pass-word@127.0.0.1:${await closedPort()}/nowhere`;
      const web = await processes.start({ DATABASE_URL: url });
      await untilReadyzSays(web, 503, {
        status: 'not_ready',
        ...READY,
        database: 'down',
        migrations: 'unknown',
      });
      assert.equal((await processes.send(web.port, 'GET', '/healthz')).status, 200);
      const refused = await processes.send(web.port, 'GET', SESSIONS);
      assert.equal(refused.status, 500);
      const { type, code, request_id: requestId } = JSON.parse(refused.text).error;
      assert.deepEqual(
        [type, code, requestId],
        ['api_error', 'internal_error', refused.headers['request-id']],
      );
      assert.doesNotMatch(refused.text, /127\.0\.0\.1|ECONN|nowhere/);
      await assertStopsQuietly(web);
    });

    it('migrations: not ready but alive', async () => {
      const web = await processes.start({ DATABASE_URL: await createDatabase('not_migrated') });
      await untilReadyzSays(web, 503, { status: 'not_ready', ...READY, migrations: 'behind' });
      assert.equal((await processes.send(web.port, 'GET', '/healthz')).status, 200);
    });
  });
});
