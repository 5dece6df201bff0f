import assert from 'node:assert/strict';
import { mock } from 'node:test';
import request from 'supertest';
import { findFreePort } from '../../lab/world/http/listen.js';
import { OperatorAction } from '../../shared/accounts/model.js';
import { loadConfig } from '../../shared/config/config.js';
import { WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE } from '../../shared/limits/bounds.js';
import { createLogger } from '../../shared/process/logger.js';
import { startWorker } from '../../workers/process/start-worker.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { stopClockOnSecond } from '../support/stopped-clock.js';
import { testServices } from '../support/suite.js';

const PASSWORD = 'open sesame, please';
const JOB = '/admin/queues/api/queues/settle-payment/none/retry/failed';
const PAUSE = '/admin/queues/api/queues/deliver-webhook/pause';
const RESUME = '/admin/queues/api/queues/deliver-webhook/resume';
const ADD = '/admin/queues/api/queues/expire-sessions/add';

describe("the operators' pages", () => {
  const app = forAllTests(() =>
    openTestApp({ ADMIN_PASSWORD: PASSWORD, METRICS_TOKEN: PASSWORD, TRUST_PROXY: '1' }),
  );
  // The pages count in Redis as soon as it is connected.
  before(() => app.queues.check());

  const change = (path: string, method: 'put' | 'post' = 'put'): request.Test =>
    request(app.server)[method](path).auth('admin', PASSWORD);
  const rows = async (): Promise<OperatorAction[]> =>
    await OperatorAction.query(app.db).orderBy('id', 'desc');

  describe('limit failed logins', () => {
    // All logins come within one minute.
    beforeEach(() => stopClockOnSecond());
    afterEach(() => mock.restoreAll());

    const doors: [name: string, path: string, wrong: string, right: string][] = [
      ['ADMIN_PASSWORD', '/admin/queues', basic('admin:open sesamf'), basic(`admin:${PASSWORD}`)],
      ['METRICS_TOKEN', '/metrics', 'Bearer scrape-me', `Bearer ${PASSWORD}`],
    ];
    for (const [name, path, wrong, right] of doors) {
      it(`to the ${name}, separately for each address`, async () => {
        const from = (address: string, authorization?: string): request.Test => {
          const test = request(app.server).get(path).set('X-Forwarded-For', address);
          return authorization === undefined ? test : test.set('Authorization', authorization);
        };
        for (let guess = 0; guess < WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE; guess += 1) {
          await from('203.0.113.7', wrong).expect(401);
          await from('203.0.113.7').expect(401);
        }
        const held = await from('203.0.113.7', right).expect(429);
        assert.match(held.get('Retry-After') ?? '', /^[1-9]\d?$/);
        assert.match(held.text, /^Too many wrong passwords/);
        await from('203.0.113.8', right).expect(200);
      });
    }

    it('with the METRICS_TOKEN, at the port of a worker', async () => {
      const port = await findFreePort();
      const { databaseUrl, redisUrl } = testServices();
      const environment = {
        DATABASE_URL: databaseUrl,
        REDIS_URL: redisUrl,
        FACILITATOR_URL: 'http://127.0.0.1:1',
        WORKER_METRICS_PORT: String(port),
        METRICS_TOKEN: PASSWORD,
      };
      const worker = await startWorker(loadConfig(environment, 'worker'), createLogger('silent', 'test'));
      try {
        const ask = (token: string) =>
          request(`http://127.0.0.1:${port}`).get('/metrics').set('Authorization', `Bearer ${token}`);
        for (let guess = 0; guess < WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE; guess += 1)
          await ask('x').expect(401);
        const held = await ask(PASSWORD).expect(429);
        assert.match(held.get('Retry-After') ?? '', /^[1-9]\d?$/);
      } finally {
        await worker.close();
      }
    });
  });

  describe('accept changes', () => {
    const refused: Record<string, Record<string, string>> = {
      'from another site': { 'Sec-Fetch-Site': 'cross-site' },
      'from another subdomain': { 'Sec-Fetch-Site': 'same-site' },
      'typed into an address bar': { 'Sec-Fetch-Site': 'none' },
      'from another origin': { Origin: 'https://evil.example' },
      'from another port': { Origin: 'http://127.0.0.1:1' },
      'from an opaque origin': { Origin: 'null' },
      'from a form': { 'Content-Type': 'application/x-www-form-urlencoded' },
      'from a form with files': { 'Content-Type': 'multipart/form-data; boundary=x' },
      'from a form with plain text': { 'Content-Type': 'text/plain' },
    };
    for (const [name, headers] of Object.entries(refused)) {
      it(`not ${name}`, async () => {
        const before_ = (await rows()).length;
        const { paused } = await queueState();
        for (const [method, path] of [
          ['put', PAUSE],
          ['put', JOB],
          ['post', ADD],
        ] as const) {
          const body = headers['Content-Type'] === undefined ? undefined : 'name=x';
          const res = await change(path, method).set(headers).send(body).expect(403);
          assert.match(res.text, /only from these pages/);
        }
        assert.equal((await queueState()).paused, paused);
        assert.equal((await rows()).length, before_);
      });
    }

    it('not in a body without a content type', async () => {
      const res = await change(PAUSE).unset('Content-Type').set('Transfer-Encoding', 'chunked');
      assert.equal(res.status, 403);
    });

    it('from their own pages and from programs', async () => {
      const host = `127.0.0.1:${app.port}`;
      await change(PAUSE).set('Sec-Fetch-Site', 'same-origin').expect(200);
      assert.equal((await queueState()).paused, true);
      await change(RESUME)
        .set({ Host: host, Origin: `http://${host}` })
        .expect(200);
      assert.equal((await queueState()).paused, false);
      await change(PAUSE).send({}).expect(200);
      await change(RESUME).expect(200);
    });

    async function queueState(): Promise<{ paused: boolean }> {
      const queues = await app.queues.open();
      const queue = queues.find(({ name }) => name === 'deliver-webhook');
      return { paused: (await queue?.isPaused()) ?? false };
    }
  });

  it('name paused queues at the top', async () => {
    const page = async (): Promise<string> => {
      const res = await request(app.server)
        .get('/admin/queues')
        .set('Accept', 'text/html')
        .auth('admin', PASSWORD)
        .expect(200);
      return res.text;
    };
    assert.doesNotMatch(await page(), /role="alert"/);
    await change(PAUSE).expect(200);
    try {
      assert.match(await page(), /<body[^>]*><div role="alert"[^>]*>Paused: deliver-webhook\./);
    } finally {
      await change(RESUME).expect(200);
    }
    assert.doesNotMatch(await page(), /role="alert"/);
  });

  describe('record each action', () => {
    it('before it is let through: who, what, and on which object', async () => {
      await change(PAUSE).set('X-Forwarded-For', '203.0.113.9').expect(200);
      await change(RESUME).expect(200);
      await change('/admin/queues/api/queues/settle-payment/pay_1-1/retry/failed');
      await change('/admin/queues/api/queues/resume').expect(200);
      await request(app.server).get('/admin/queues/api/queues').auth('admin', PASSWORD).expect(200);
      const actions = (await rows()).slice(0, 4).reverse();
      const recorded = actions.map(({ what, about }) => [what, about]);
      assert.deepEqual(recorded, [
        ['PUT /api/queues/deliver-webhook/pause', 'deliver-webhook'],
        ['PUT /api/queues/deliver-webhook/resume', 'deliver-webhook'],
        ['PUT /api/queues/settle-payment/pay_1-1/retry/failed', 'settle-payment/pay_1-1'],
        ['PUT /api/queues/resume', null],
      ]);
      for (const { who } of actions) assert.equal(who, 'admin@dashboard');
      assert.deepEqual(actions[0]?.arguments, { from: '203.0.113.9' });
    });

    it('without the body of the request', async () => {
      await change(ADD, 'post').send({ name: 'x', data: { secret: 'hunter2' } });
      const [row] = await rows();
      assert.equal(row?.what, 'POST /api/queues/expire-sessions/add');
      assert.ok(!JSON.stringify(row).includes('hunter2'));
    });

    it('or refuse it', async () => {
      await app.db.raw('ALTER TABLE operator_actions ADD CONSTRAINT closed CHECK (false) NOT VALID');
      try {
        const res = await change(PAUSE).expect(503);
        assert.match(res.text, /could not be recorded/);
      } finally {
        await app.db.raw('ALTER TABLE operator_actions DROP CONSTRAINT closed');
      }
      const queues = await app.queues.open();
      for (const queue of queues) assert.equal(await queue.isPaused(), false);
    });
  });
});

function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}
