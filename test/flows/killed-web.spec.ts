import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { loadConfig } from '../../shared/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { migrate } from '../../shared/db/migrate.js';
import { createLogger } from '../../shared/logger.js';
import { CheckoutSession } from '../../shared/models/checkout-session.js';
import { Event } from '../../shared/models/event.js';
import { IdempotencyRecord } from '../../shared/models/idempotency-record.js';
import { WebhookEndpoint } from '../../shared/models/webhook-endpoint.js';
import { eventually } from '../support/eventually.js';
import { buildMerchant, buildSession, type Merchant } from '../support/factories.js';
import { createDatabase, testServices } from '../support/suite.js';

/**
 * A real web process, killed and stopped at chosen instants. What makes an instant choosable: a deferred trigger
 * that waits at COMMIT for an advisory lock that the test holds, and a proxy that swallows answers.
 */
const ROOT = path.join(import.meta.dirname, '..', '..');
const COMMIT_LOCK = 20_261_101;
const SESSIONS = '/v1/checkout/sessions';
const ENDPOINTS = '/v1/webhook_endpoints';
const minimal = { line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }] };
const hooks = { url: 'https://shop.example/hooks' };

const READY = { database: 'ok', migrations: 'ok', queue_store: 'ok' };
const BROKEN = /socket hang up|ECONNRESET/;

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** A process of ours, started as an operator starts it. */
interface Running {
  child: ChildProcess;
  output(): string;
  errors(): string;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

interface Web extends Running {
  port: number;
}

describe('a web process', function () {
  this.timeout(60_000);
  let db: Knex;
  let shop: Merchant;
  let environment: Record<string, string>;
  const started: Running[] = [];

  before(async () => {
    const url = await createDatabase('killed_web');
    const config = loadConfig({ DATABASE_URL: url }, 'migrate');
    await migrate(config, createLogger('silent', 'test'));
    db = openDatabase(config.database);
    shop = await buildMerchant(db);
    environment = {
      DATABASE_URL: url,
      REDIS_URL: testServices().redisUrl,
      FACILITATOR_URL: 'http://127.0.0.1:1',
      BASE_URL: 'https://pay.example',
      PORT: '0',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    };
    await db.raw(`
      CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${COMMIT_LOCK}); RETURN NULL; END $$`);
    for (const table of ['checkout_sessions', 'events', 'webhook_endpoints']) {
      await db.raw(`
        CREATE CONSTRAINT TRIGGER wait_at_commit AFTER INSERT ON ${table}
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_commit()`);
    }
  });
  after(() => db.destroy());
  afterEach(async () => {
    for (const { child, exited } of started.splice(0)) {
      child.kill('SIGKILL');
      await exited;
    }
  });

  function run(entry: string, env: Record<string, string>): Running {
    const child = spawn(process.execPath, ['--import', 'tsx', entry], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      errors += chunk;
    });
    const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }));
    const running = { child, output: () => output, errors: () => errors, exited };
    started.push(running);
    return running;
  }

  async function startWeb(changes: Record<string, string> = {}): Promise<Web> {
    const web = run('api/server.ts', { ...environment, ...changes });
    const port = await eventually(() => {
      assert.equal(web.child.exitCode, null, web.errors());
      const line = lines(web).find(({ event }) => event === 'web.listening');
      return Number(line?.port ?? assert.fail('it is not listening yet'));
    }, 40_000);
    return { ...web, port };
  }

  function lines({ output }: Running): Record<string, unknown>[] {
    return output()
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line));
  }

  async function send(
    port: number,
    method: 'GET' | 'POST',
    target: string,
    { body, key, agent = false }: { body?: object; key?: string; agent?: Agent | false } = {},
  ): Promise<Answer> {
    const content = body === undefined ? '' : JSON.stringify(body);
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method,
      path: target,
      agent,
      headers: {
        Authorization: `Bearer ${shop.testKey}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(key !== undefined && { 'Idempotency-Key': key }),
        'Content-Length': Buffer.byteLength(content),
      },
    });
    outgoing.end(content);
    const [answer] = await once(outgoing, 'response');
    return { status: answer.statusCode, headers: answer.headers, text: await text(answer) };
  }

  /** A process listens before Redis has answered its first hello. */
  async function untilReadyzSays(web: Web, status: number, body: object): Promise<void> {
    await eventually(async () => {
      const answer = await send(web.port, 'GET', '/readyz');
      assert.deepEqual([answer.status, JSON.parse(answer.text)], [status, body]);
    });
  }

  /** From here on every commit that made something waits, until it is released. */
  async function holdCommits(): Promise<{
    /** The database processes of the commits that wait, once there are so many. */
    waiting(count: number): Promise<number[]>;
    release(): Promise<void>;
  }> {
    const trx = await db.transaction();
    await trx.raw('SELECT pg_advisory_xact_lock(?)', [COMMIT_LOCK]);
    return {
      waiting: (count) =>
        eventually(async () => {
          const { rows } = await db.raw(
            `SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
             WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted`,
          );
          assert.equal(rows.length, count, 'the commits do not wait yet');
          return rows.map(({ pid }: { pid: number }) => pid);
        }),
      async release() {
        await trx.commit();
      },
    };
  }

  async function kill(web: Running): Promise<void> {
    web.child.kill('SIGKILL');
    assert.deepEqual(await web.exited, { code: null, signal: 'SIGKILL' });
  }

  async function untilGone(pids: number[]): Promise<void> {
    await eventually(async () => {
      const { rows } = await db.raw('SELECT 1 FROM pg_stat_activity WHERE pid = ANY(?)', [pids]);
      assert.equal(rows.length, 0, 'the database still works for the dead process');
    });
  }

  /** One request of each kind, with a count of what it made: every one must end as exactly one. */
  interface Effect {
    target: string;
    body?: object;
    key: string;
    count(): Promise<number>;
  }

  async function prepareEffects(): Promise<Effect[]> {
    const reference = newKey();
    const url = `${hooks.url}/${reference}`;
    const { id } = await buildSession(db, shop.accountId);
    return [
      {
        target: SESSIONS,
        body: { ...minimal, client_reference_id: reference },
        key: newKey(),
        count: () => CheckoutSession.query(db).where({ clientReferenceId: reference }).resultSize(),
      },
      {
        target: ENDPOINTS,
        body: { url },
        key: newKey(),
        count: () => WebhookEndpoint.query(db).where({ url }).resultSize(),
      },
      {
        target: `${SESSIONS}/${id}/expire`,
        key: newKey(),
        count: () => Event.query(db).where({ checkoutSessionId: id }).resultSize(),
      },
    ];
  }

  let keys = 0;
  const newKey = (): string => `key-${keys++}`;
  const post = (port: number, { target, ...rest }: Effect): Promise<Answer> =>
    send(port, 'POST', target, rest);
  const counts = (effects: Effect[]): Promise<number[]> => Promise.all(effects.map(({ count }) => count()));

  describe('killed in a create, a webhook create and an expire', () => {
    it('between commit and answer: the retries get the very bytes that were lost', async () => {
      const effects = await prepareEffects();
      const web = await startWeb();
      const proxy = await openSwallowingProxy(web.port, effects.length, () => web.child.kill('SIGKILL'));
      try {
        await Promise.all(effects.map((effect) => assert.rejects(post(proxy.port, effect), BROKEN)));
        await web.exited;
        const lost = (await proxy.swallowed).map((answer) => {
          const [head = '', body] = answer.split('\r\n\r\n');
          assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
          return body;
        });
        assert.deepEqual(await counts(effects), [1, 1, 1]);
        const next = await startWeb();
        const retries = await Promise.all(effects.map((effect) => post(next.port, effect)));
        assert.deepEqual(retries.map(({ text: body }) => body).sort(), lost.sort());
        for (const { status, headers } of retries) {
          assert.deepEqual([status, headers['idempotent-replayed']], [200, 'true']);
        }
        assert.deepEqual(await counts(effects), [1, 1, 1]);
      } finally {
        await proxy.close();
      }
    });

    it('before the commits, which never come: the retries do it', async () => {
      const effects = await prepareEffects();
      const web = await startWeb();
      const commits = await holdCommits();
      try {
        const lost = Promise.all(effects.map((effect) => assert.rejects(post(web.port, effect), BROKEN)));
        const waiting = await commits.waiting(effects.length);
        await kill(web);
        await lost;
        for (const pid of waiting) await db.raw('SELECT pg_terminate_backend(?)', [pid]);
        await untilGone(waiting);
      } finally {
        await commits.release();
      }
      assert.deepEqual(await counts(effects), [0, 0, 0]);
      const kept = IdempotencyRecord.query(db).whereIn(
        'key',
        effects.map(({ key }) => key),
      );
      assert.equal(await kept.resultSize(), 0);
      const next = await startWeb();
      for (const effect of effects) {
        const first = await post(next.port, effect);
        assert.equal(first.status, 200, first.text);
        assert.equal(first.headers['idempotent-replayed'], undefined);
        assert.equal((await post(next.port, effect)).text, first.text);
      }
      assert.deepEqual(await counts(effects), [1, 1, 1]);
    });

    it('while the database still commits: retries that come during it wait, and replay', async () => {
      const effects = await prepareEffects();
      const web = await startWeb();
      const commits = await holdCommits();
      let retries: Promise<Answer[]>;
      try {
        const lost = Promise.all(effects.map((effect) => assert.rejects(post(web.port, effect), BROKEN)));
        const waiting = await commits.waiting(effects.length);
        await kill(web);
        await lost;
        const next = await startWeb();
        retries = Promise.all(effects.map((effect) => post(next.port, effect)));
        await eventually(async () => {
          const { rows } = await db.raw(
            'SELECT 1 FROM pg_stat_activity WHERE pg_blocking_pids(pid) && ?::integer[]',
            [waiting],
          );
          assert.equal(rows.length, effects.length, 'the retries do not wait yet');
        });
        assert.deepEqual(await counts(effects), [0, 0, 0]);
      } finally {
        await commits.release();
      }
      for (const { status, headers, text: body } of await retries) {
        assert.deepEqual([status, headers['idempotent-replayed']], [200, 'true'], body);
      }
      assert.deepEqual(await counts(effects), [1, 1, 1]);
    });
  });

  it('killed amid 40 creates: after the retries there is one session of each key', async () => {
    const reference = `many-${Math.random()}`;
    const body = { ...minimal, client_reference_id: reference };
    const mine = Array.from({ length: 40 }, newKey);
    const web = await startWeb();
    const first = new Map<string, string>();
    await Promise.allSettled(
      mine.map(async (key) => {
        const answer = await send(web.port, 'POST', SESSIONS, { body, key });
        first.set(key, answer.text);
        // In the midst of the others, wherever they are.
        if (first.size === 10) web.child.kill('SIGKILL');
      }),
    );
    await web.exited;
    assert.ok(first.size >= 10 && first.size <= mine.length);
    const next = await startWeb();
    const ids = new Set<string>();
    for (const key of mine) {
      const answer = await send(next.port, 'POST', SESSIONS, { body, key });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.text, first.get(key) ?? answer.text);
      ids.add(JSON.parse(answer.text).id);
    }
    assert.equal(ids.size, mine.length);
    const rows = await CheckoutSession.query(db).where({ clientReferenceId: reference });
    assert.equal(rows.length, mine.length);
  });

  describe('told to stop', () => {
    async function untilRefused(port: number): Promise<void> {
      await eventually(async () => {
        const socket = connect(port, '127.0.0.1');
        const outcome = await Promise.race([
          once(socket, 'connect').then(() => 'connected'),
          once(socket, 'error').then(() => 'refused'),
        ]).catch(() => 'refused');
        socket.destroy();
        assert.equal(outcome, 'refused');
      });
    }

    it('by SIGTERM while a request is in flight: answers it and exits 0, idle connections or not', async () => {
      const web = await startWeb();
      const idle = new Agent({ keepAlive: true });
      const commits = await holdCommits();
      try {
        assert.equal(
          (await send(web.port, 'GET', '/healthz', { agent: idle })).headers.connection,
          'keep-alive',
        );
        const answer = send(web.port, 'POST', SESSIONS, { body: minimal, key: newKey() });
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
          lines(web).map(({ event }) => event),
          [
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
      const web = await startWeb();
      const agent = new Agent({ keepAlive: true });
      const commits = await holdCommits();
      try {
        const answer = send(web.port, 'POST', SESSIONS, { body: minimal, agent });
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

    it('by SIGINT and again by SIGTERM: ends at once, without an answer', async () => {
      const web = await startWeb();
      const commits = await holdCommits();
      try {
        const lost = assert.rejects(send(web.port, 'POST', SESSIONS, { body: minimal }), BROKEN);
        await commits.waiting(1);
        web.child.kill('SIGINT');
        await untilRefused(web.port);
        web.child.kill('SIGTERM');
        assert.deepEqual(await web.exited, { code: 1, signal: null });
        await lost;
      } finally {
        await commits.release();
      }
    });
  });

  it('serves on after the database has cut its connections, idle or not; its port is its own', async () => {
    const clients = async (): Promise<number[]> => {
      const { rows } = await db.raw(
        `SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'client backend'`,
      );
      return rows.map(({ pid }: { pid: number }) => pid);
    };
    const ours = await clients();
    const web = await startWeb();
    await untilReadyzSays(web, 200, { status: 'ready', ...READY });
    const theirs = (await clients()).filter((pid) => !ours.includes(pid));
    assert.ok(theirs.length > 0);
    for (const pid of theirs) await db.raw('SELECT pg_terminate_backend(?)', [pid]);
    await eventually(async () => {
      assert.equal((await send(web.port, 'POST', SESSIONS, { body: minimal })).status, 200);
    });
    // Now in the midst of a commit: the answer is a 500 that may be retried, and the retry does it.
    const [create = assert.fail()] = await prepareEffects();
    const commits = await holdCommits();
    try {
      const failed = post(web.port, create);
      const waiting = await commits.waiting(1);
      for (const pid of waiting) await db.raw('SELECT pg_terminate_backend(?)', [pid]);
      const { status, text: body } = await failed;
      assert.deepEqual([status, JSON.parse(body).error.code], [500, 'internal_error']);
      await untilGone(waiting);
    } finally {
      await commits.release();
    }
    assert.equal(await create.count(), 0);
    const retry = await post(web.port, create);
    assert.deepEqual([retry.status, retry.headers['idempotent-replayed']], [200, undefined]);
    assert.equal(await create.count(), 1);

    const second = run('api/server.ts', { ...environment, PORT: String(web.port) });
    assert.deepEqual(await second.exited, { code: 1, signal: null });
    assert.match(second.errors(), /EADDRINUSE/);
    assert.equal(web.child.exitCode, null);
  });

  describe('says what is down', () => {
    /** With exit status 0, nothing but JSON lines behind it, and no password in them. */
    async function assertStopsQuietly(web: Web): Promise<void> {
      web.child.kill('SIGTERM');
      assert.deepEqual(await web.exited, { code: 0, signal: null });
      assert.doesNotMatch(web.output() + web.errors(), /pass-word/);
      const odd = web
        .output()
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('{"level":'));
      assert.deepEqual(odd, []);
    }

    it('Redis: not ready but alive, and merchants are served all the same', async () => {
      const web = await startWeb({ REDIS_URL: `redis://:pass-word@127.0.0.1:${await closedPort()}` });
      await untilReadyzSays(web, 503, { status: 'not_ready', ...READY, queue_store: 'down' });
      assert.equal((await send(web.port, 'GET', '/healthz')).status, 200);
      assert.equal((await send(web.port, 'POST', SESSIONS, { body: minimal })).status, 200);
      await assertStopsQuietly(web);
    });

    it('Postgres: not ready but alive, and the API answers 500 in its own form', async () => {
      const url = `postgres://user:pass-word@127.0.0.1:${await closedPort()}/nowhere`;
      const web = await startWeb({ DATABASE_URL: url });
      await untilReadyzSays(web, 503, {
        status: 'not_ready',
        ...READY,
        database: 'down',
        migrations: 'unknown',
      });
      assert.equal((await send(web.port, 'GET', '/healthz')).status, 200);
      const refused = await send(web.port, 'GET', SESSIONS);
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
      const web = await startWeb({ DATABASE_URL: await createDatabase('not_migrated') });
      await untilReadyzSays(web, 503, { status: 'not_ready', ...READY, migrations: 'behind' });
      assert.equal((await send(web.port, 'GET', '/healthz')).status, 200);
    });
  });
});

describe('a start that cannot work', function () {
  this.timeout(60_000);

  async function failedStart(entry: string, env: Record<string, string>): Promise<string> {
    const child = spawn(process.execPath, ['--import', 'tsx', entry], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    assert.equal(code, 1, output + errors);
    assert.equal(output, '');
    return errors;
  }

  /** Each variable is named once, in a sentence of its own, and no other is. */
  function assertNames(errors: string, names: string[]): void {
    const complaints = errors.trim().split('\n').slice(1);
    assert.deepEqual(
      complaints.map((line) => line.trim().split(' ', 1)[0]).sort(),
      [...names].sort(),
      errors,
    );
    for (const line of complaints) assert.match(line, /^ {2}[A-Z].*[.)]$/);
    assert.doesNotMatch(errors, /\bat .*:\d+:\d+/);
  }

  const MIGRATE = 'shared/db/migrate.ts';

  for (const entry of ['api/server.ts', 'workers/main.ts']) {
    it(`${entry} names everything that is missing`, async () => {
      const [here, inProduction] = await Promise.all([
        failedStart(entry, {}),
        failedStart(entry, { NODE_ENV: 'production' }),
      ]);
      assertNames(here, ['DATABASE_URL', 'FACILITATOR_URL']);
      assertNames(inProduction, ['DATABASE_URL', 'FACILITATOR_URL', 'ENCRYPTION_KEY']);
    });

    it(`${entry} names everything that is malformed, and repeats no secret`, async () => {
      const malformed = {
        DATABASE_URL: 'mysql://user:pass-word@localhost/db',
        REDIS_URL: 'http://:pass-word@localhost',
        FACILITATOR_URL: 'pass-word',
        ENCRYPTION_KEY: Buffer.from('pass-word').toString('base64'),
        PORT: '70000',
        BASE_URL: 'pay.example',
        DATABASE_POOL_SIZE: '0',
        DATABASE_TLS_VERIFY: 'no',
        REDIS_TLS_VERIFY: '1',
        FACILITATOR_KEY_ID: 'only-half',
        FACILITATOR_TIMEOUT_MS: '8s',
        FACILITATOR_SETTLE_TIMEOUT_MS: '-1',
        SETTLE_WAIT_MS: '1e3',
        CONFIRMATIONS_EIP155_8453: 'many',
        RPC_URL_SOLANA: 'localhost',
        RATE_LIMIT_API_PER_SECOND: '0',
        RATE_LIMIT_LINK_PER_MINUTE: 'x',
        TRUST_PROXY: 'perhaps',
        WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'TRUE',
        WORKER_QUEUES: 'nothing',
        WORKER_CONCURRENCY: '1.5',
        WORKER_METRICS_PORT: '0',
        LOG_LEVEL: 'loud',
      };
      const errors = await failedStart(entry, malformed);
      assertNames(errors, Object.keys(malformed));
      assert.doesNotMatch(errors, /pass-word|cGFzcy13b3Jk/);
    });
  }

  it(`${MIGRATE} needs the database alone, in production too`, async () => {
    const [here, inProduction, malformed] = await Promise.all([
      failedStart(MIGRATE, {}),
      failedStart(MIGRATE, { NODE_ENV: 'production' }),
      failedStart(MIGRATE, { DATABASE_URL: '/var/lib/db', LOG_LEVEL: 'loud' }),
    ]);
    assertNames(here, ['DATABASE_URL']);
    assertNames(inProduction, ['DATABASE_URL']);
    assertNames(malformed, ['DATABASE_URL', 'LOG_LEVEL']);
  });

  for (const entry of ['workers/main.ts', MIGRATE]) {
    it(`${entry} ends when the database cannot be reached, and repeats no password`, async () => {
      const port = await closedPort();
      const errors = await failedStart(entry, {
        DATABASE_URL: `postgres://user:pass-word@127.0.0.1:${port}/db`,
        FACILITATOR_URL: 'http://127.0.0.1:1',
        REDIS_URL: testServices().redisUrl,
      });
      assert.match(errors, /ECONNREFUSED/);
      assert.doesNotMatch(errors, /pass-word/);
    });
  }
});

async function closedPort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

interface SwallowingProxy {
  port: number;
  /** What the upstream answered on each connection, once it has closed them all. */
  swallowed: Promise<string[]>;
  close(): Promise<void>;
}

/** Carries requests on and keeps the answers to itself: `onAnswered` is called when `count` of them have begun. */
async function openSwallowingProxy(
  upstreamPort: number,
  count: number,
  onAnswered: () => void,
): Promise<SwallowingProxy> {
  const sockets = new Set<Socket>();
  const answers: Promise<string>[] = [];
  let begun = 0;
  let announceEnd = (): void => {};
  const ended = new Promise<void>((resolve) => {
    announceEnd = resolve;
  });
  const swallow = (client: Socket): Promise<string> => {
    const upstream = connect(upstreamPort, '127.0.0.1');
    sockets.add(client).add(upstream);
    client.pipe(upstream);
    // The killed process resets its connections, and the client loses patience.
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
    let answer = '';
    upstream.setEncoding('utf8').on('data', (chunk: string) => {
      if (answer === '' && ++begun === count) onAnswered();
      answer += chunk;
    });
    return once(upstream, 'close').then(() => {
      client.destroy();
      return answer;
    });
  };
  const server = createServer((client) => {
    answers.push(swallow(client));
    if (answers.length === count) announceEnd();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    swallowed: ended.then(() => Promise.all(answers)),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
