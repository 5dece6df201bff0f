import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import Stripe from 'stripe';
import { startWeb } from '../../../api/process/start-web.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { loadConfig } from '../../../shared/config/config.js';
import { resetClock } from '../../../shared/process/clock.js';
import { createLogger } from '../../../shared/process/logger.js';
import type { Closable } from '../../../shared/process/shutdown.js';
import { createSecretBox } from '../../../shared/secrets/secrets.js';
import { readBacklog } from '../../../shared/upkeep/backlog.js';
import { startWorker } from '../../../workers/process/start-worker.js';
import { forAllTests } from '../../support/hooks.js';
import { testServices } from '../../support/suite.js';
import { openWebhookFlow } from '../../support/webhook-flow.js';

describe('secrets of webhook endpoints', () => {
  const [older, newer] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const lines: string[] = [];
  const workers: Closable[] = [];
  const flow = forAllTests(() =>
    openWebhookFlow('webhooks_secrets', {
      worker: false,
      environment: { ENCRYPTION_KEY: older },
    }),
  );
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.close()));
    resetClock();
  });

  /** An endpoint whose secret this key has sealed. */
  async function addReadableBy(key: string): Promise<void> {
    const { id, secret } = await flow.addEndpoint({ enabled_events: ['checkout.session.completed'] });
    const sealedSecret = createSecretBox([Buffer.from(key, 'base64')]).seal(secret);
    await flow.db('webhookEndpoints').where({ id }).update({ sealedSecret });
  }

  /** Starts a worker with these keys and records its log. */
  async function work(keys: string): Promise<void> {
    const { redisUrl } = testServices();
    const environment = {
      DATABASE_URL: flow.databaseUrl,
      REDIS_URL: redisUrl,
      FACILITATOR_URL: flow.facilitator.url,
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      ENCRYPTION_KEY: keys,
    };
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    workers.push(await startWorker(loadConfig(environment, 'worker'), createLogger('trace', 'test', sink)));
  }

  /** The lines that say that this endpoint's secret cannot be read. */
  const unreadableLines = (id: string): string[] =>
    lines.filter((line) => line.includes('webhook_secret.unreadable') && line.includes(id));

  it('of which none can be read refuse the start, of web and of worker', async () => {
    await flow.addEndpoint();
    const refusal = /ENCRYPTION_KEY opens none of the 1 newest webhook secrets/;
    await assert.rejects(work(newer), refusal);
    const environment = { DATABASE_URL: flow.databaseUrl, FACILITATOR_URL: 'http://127.0.0.1:1', PORT: '0' };
    const web = loadConfig({ ...environment, ENCRYPTION_KEY: newer }, 'web');
    await assert.rejects(startWeb(web, createLogger('silent', 'test')), refusal);
    // A readable one among them is enough.
    await addReadableBy(newer);
    await work(newer);
  });

  it('that cannot be read hold the deliveries, cost no try and one line; a rotated key sends them, and the log has no secret', async () => {
    const hook = await flow.addEndpoint();
    await addReadableBy(newer);
    const { id } = await flow.buildSession({ customerEmail: 'buyer@mail.example' });
    await flow.api.post(`/v1/checkout/sessions/${id}/expire`).expect(200);
    for (let more = 0; more < 5; more += 1) await flow.expireSession();
    await work(newer);
    await eventually(async () => {
      const rows = await flow.deliveries(hook.id);
      assert.equal(rows.length, 6);
      assert.notEqual((await flow.endpoint(hook.id)).unreadableSince, null);
      for (const { status, tries, history, leasedUntil } of rows)
        assert.deepEqual([status, tries, history, leasedUntil], ['pending', 0, [], null]);
    });
    await flow.expireSession();
    const { body } = await flow.api.get(`/v1/webhook_endpoints/${hook.id}/deliveries`).expect(200);
    for (const delivery of body.data) assert.equal(delivery.next_try_at, null);
    assert.equal(hook.receiver.got.length, 0);
    const { failingSince, unreadableSince, status } = await flow.endpoint(hook.id);
    assert.deepEqual([failingSince, status], [null, 'enabled']);
    assert.ok(unreadableSince !== null);
    assert.equal(unreadableLines(hook.id).length, 1);
    assert.ok((await readBacklog(flow.db)).unreadableEndpoints >= 1);
    await Promise.all(workers.splice(0).map((worker) => worker.close()));

    await work(`${newer},${older}`);
    await flow.untilSucceeded(hook.id, 7);
    assert.equal((await flow.endpoint(hook.id)).unreadableSince, null);
    const [got] = hook.receiver.got;
    new Stripe('svc_ck_test_none').webhooks.constructEvent(
      got?.raw ?? '',
      String(got?.headers['service-signature']),
      hook.secret,
      300_000,
    );
    // The line is logged after the row is written.
    await eventually(() => assert.match(lines.join(''), /delivery\.attempted/));
    const log = lines.join('');
    for (const secret of [
      hook.secret,
      hook.secret.slice('whsec_'.length),
      (await flow.endpoint(hook.id)).sealedSecret,
      String(got?.headers['service-signature']).split('v1=')[1] ?? '',
      String(got?.headers['webhook-signature']).slice(3),
      'buyer@mail.example',
      older,
      newer,
    ]) {
      assert.ok(secret.length > 10 && !log.includes(secret), secret);
    }
  });

  it('in an answer that another key sealed are asked for again with a 503', async () => {
    const create = () =>
      flow.api
        .post('/v1/webhook_endpoints')
        .set('Idempotency-Key', 'rotated')
        .send({ url: 'https://1.1.1.1/rotated' });
    const { body: first } = await create().expect(200);
    const answer = createSecretBox([Buffer.from(newer, 'base64')]).seal(JSON.stringify(first));
    const record = flow.db('idempotencyRecords').where({ key: 'rotated' });
    await record.clone().update({ answer });
    const { body, headers } = await create().expect(503);
    assert.deepEqual([body.error.code, headers['retry-after']], ['service_unavailable', '5']);
    const own = createSecretBox([Buffer.from(older, 'base64')]).seal(JSON.stringify(first));
    await record.clone().update({ answer: own });
    assert.deepEqual((await create().expect(200)).body, first);
    assert.equal((await flow.db('webhookEndpoints').where({ url: 'https://1.1.1.1/rotated' })).length, 1);
  });
});
