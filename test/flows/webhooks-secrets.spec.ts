import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import Stripe from 'stripe';
import { eventually } from '../../lab/world/processes/eventually.js';
import { loadConfig } from '../../shared/config/config.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { startWorker } from '../../workers/process/start-worker.js';
import { testServices } from '../support/suite.js';
import { openWebhookFlow, type WebhookFlow } from '../support/webhook-flow.js';

describe('secrets of webhook endpoints', () => {
  const [older, newer] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const lines: string[] = [];
  const workers: Closable[] = [];
  let flow: WebhookFlow;
  before(async () => {
    flow = await openWebhookFlow('webhooks_secrets', {
      worker: false,
      environment: { ENCRYPTION_KEY: older },
    });
  });
  after(() => flow.close());
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.close()));
    resetClock();
  });

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

  it('that cannot be read cost no try; a rotated key reads them, and the log has no secret', async () => {
    const hook = await flow.addEndpoint();
    const { id } = await flow.buildSession({ customerEmail: 'buyer@mail.example' });
    await flow.api.post(`/v1/checkout/sessions/${id}/expire`).expect(200);
    await work(newer);
    const postponed = await eventually(async () => {
      const [row] = await flow.deliveries(hook.id);
      assert.ok(row?.attempt === 1 && row.leasedUntil === null);
      return row;
    });
    assert.deepEqual([postponed.status, postponed.tries, postponed.history], ['pending', 0, []]);
    assert.ok((postponed.dueAt?.getTime() ?? 0) > nowMs() + 30_000);
    assert.equal(hook.receiver.got.length, 0);
    assert.equal((await flow.endpoint(hook.id)).failingSince, null);
    assert.ok(lines.some((line) => line.includes('webhook_secret.unreadable') && line.includes(hook.id)));
    await Promise.all(workers.splice(0).map((worker) => worker.close()));

    await work(`${newer},${older}`);
    advanceClock(61_000);
    await flow.untilSucceeded(hook.id, 1);
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

  it('are stored sealed only', async () => {
    const hook = await flow.addEndpoint();
    const dump = JSON.stringify(
      await Promise.all(
        ['webhookEndpoints', 'webhookDeliveries', 'events', 'idempotencyRecords'].map((table) =>
          flow.db(table),
        ),
      ),
    );
    assert.ok(dump.includes(hook.id));
    assert.ok(!dump.includes(hook.secret.slice('whsec_'.length)));
    const { sealedSecret } = await flow.endpoint(hook.id);
    assert.match(sealedSecret, /^[0-9a-f]{8}\.[\w-]{16}\.[\w-]+$/);
    assert.equal(flow.app.secretBox.open(sealedSecret), hook.secret);
  });
});
