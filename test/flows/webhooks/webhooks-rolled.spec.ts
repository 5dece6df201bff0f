import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { answer, type ReceivedEvent } from '../../../lab/world/receiver/receiver.js';
import { verifyWebhook } from '../../../local/demo/verify-webhook.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { createSecretBox } from '../../../shared/secrets/secrets.js';
import { resealSecrets } from '../../../shared/webhooks/secrets.js';
import { cleanUp } from '../../../workers/process/clean-up.js';
import { assertInvalid, assertMissing } from '../../support/api-client.js';
import { forAllTests } from '../../support/hooks.js';
import { type Hook, openWebhookFlow } from '../../support/webhook-flow.js';

const HOUR_MS = 3_600_000;

describe('a webhook secret that was rolled', () => {
  const flow = forAllTests(() => openWebhookFlow('webhooks_rolled'));
  afterEach(resetClock);

  const roll = ({ id }: Hook, body: object = {}) =>
    flow.api.post(`/v1/webhook_endpoints/${id}/roll_secret`, body);
  const rolled = async (hook: Hook, body: object = {}): Promise<string> => {
    const res = await roll(hook, body).expect(200);
    const { secret, ...shown } = res.body;
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const { body: endpoint } = await flow.api.get(`/v1/webhook_endpoints/${hook.id}`).expect(200);
    assert.deepEqual(endpoint, shown);
    return secret;
  };

  /** Verifies with Stripe's SDK, the Standard Webhooks library and the project's own example, which must agree. */
  function isVerified({ raw, headers }: ReceivedEvent, secret: string): boolean {
    const tries = [
      () =>
        new Stripe('svc_ck_test_none').webhooks.constructEvent(
          raw,
          String(headers['service-signature']),
          secret,
          HOUR_MS,
        ),
      () => verifyStandard(raw, headers, secret),
      () => {
        const at = Number(headers['webhook-timestamp']);
        if (typeof verifyWebhook(raw, headers, secret, at) === 'string') throw new Error('not verified');
      },
    ].map((verify) => {
      try {
        verify();
        return true;
      } catch {
        return false;
      }
    });
    assert.equal(new Set(tries).size, 1, 'the verifiers disagree');
    return tries[0] === true;
  }

  /** The library reads the machine's clock, and the deliveries of these specs are signed with a moved one. */
  function verifyStandard(raw: string, headers: ReceivedEvent['headers'], secret: string): void {
    const { now } = Date;
    Date.now = () => Number(headers['webhook-timestamp']) * 1000;
    try {
      new Webhook(secret).verify(raw, headers as Record<string, string>);
    } finally {
      Date.now = now;
    }
  }

  async function nextTry(hook: Hook, tries: number): Promise<ReceivedEvent> {
    const row = await flow.afterTries(hook.id, tries);
    advanceClock(Math.max(0, (row.dueAt?.getTime() ?? 0) - nowMs()));
    await flow.enqueueDeliveries(hook.id);
    await flow.afterTries(hook.id, tries + 1);
    return hook.receiver.got[tries] ?? assert.fail('not tried');
  }

  it('signs retries beside the new one until its overlap ends', async () => {
    const hook = await flow.addEndpoint();
    hook.receiver.react(answer(500));
    await flow.expireSession();
    await flow.afterTries(hook.id, 1);
    const second = await rolled(hook, { expires_in: 120 });
    const both = await nextTry(hook, 1);
    assert.deepEqual([isVerified(both, hook.secret), isVerified(both, second)], [true, true]);
    assert.match(String(both.headers['service-signature']), /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    assert.match(String(both.headers['webhook-signature']), /^v1,\S{44} v1,\S{44}$/);

    // A second roll during the overlap drops the oldest secret.
    const third = await rolled(hook);
    const later = await nextTry(hook, 2);
    const verifiedBy = (event: ReceivedEvent): boolean[] =>
      [hook.secret, second, third].map((secret) => isVerified(event, secret));
    assert.deepEqual(verifiedBy(later), [false, true, true]);

    // After a day the newest secret signs alone, also in a slot that was taken over.
    advanceClock(24 * HOUR_MS);
    const alone = await nextTry(hook, 3);
    assert.deepEqual(verifiedBy(alone), [false, false, true]);
    assert.match(String(alone.headers['service-signature']), /^t=\d+,v1=[0-9a-f]{64}$/);
  });

  it('stops signing at once when expires_in is 0', async () => {
    const hook = await flow.addEndpoint();
    const next = await rolled(hook, { expires_in: 0 });
    await flow.expireSession();
    await flow.untilSucceeded(hook.id, 1);
    const [got] = hook.receiver.got;
    assert.ok(got);
    assert.deepEqual([isVerified(got, hook.secret), isVerified(got, next)], [false, true]);
  });

  it('signs deliveries that follow others in their slot', async () => {
    const hook = await flow.addEndpoint();
    const next = await rolled(hook);
    await flow.expireWithoutNotifying(40);
    await flow.untilSucceeded(hook.id, 40);
    for (const event of hook.receiver.got)
      assert.deepEqual([isVerified(event, hook.secret), isVerified(event, next)], [true, true]);
  });

  it('is rolled once for one idempotency key, and is stored sealed only', async () => {
    const hook = await flow.addEndpoint();
    await flow.expireSession();
    await flow.untilSucceeded(hook.id, 1);
    const send = () => roll(hook).set('Idempotency-Key', 'roll-1').expect(200);
    const [first, again] = [await send(), await send()];
    assert.equal(again.text, first.text);
    assert.equal(again.get('Idempotent-Replayed'), 'true');
    const tables = ['webhookEndpoints', 'webhookDeliveries', 'events', 'idempotencyRecords'];
    const dump = JSON.stringify(await Promise.all(tables.map((table) => flow.db(table))));
    assert.ok(dump.includes(hook.id));
    for (const secret of [hook.secret, first.body.secret]) assert.ok(!dump.includes(secret.slice(6)));
    const { sealedSecret, previousSealedSecret } = await flow.endpoint(hook.id);
    const { secretBox } = flow.app;
    assert.match(sealedSecret, /^[0-9a-f]{8}\.[\w-]{16}\.[\w-]+$/);
    assert.equal(secretBox.open(sealedSecret), first.body.secret);
    assert.equal(secretBox.open(previousSealedSecret ?? ''), hook.secret);
  });

  it('is resealed with the others, and deleted after its overlap', async () => {
    const hook = await flow.addEndpoint();
    const next = await rolled(hook, { expires_in: 600 });
    const newer = Buffer.alloc(32, 7);
    const box = createSecretBox([newer, ...flow.app.config.encryptionKeys]);
    assert.deepEqual((await resealSecrets(flow.db, box)).unreadable, []);
    const { sealedSecret, previousSealedSecret } = await flow.endpoint(hook.id);
    const alone = createSecretBox([newer]);
    assert.deepEqual([alone.open(sealedSecret), alone.open(previousSealedSecret ?? '')], [next, hook.secret]);
    await resealSecrets(flow.db, createSecretBox([...flow.app.config.encryptionKeys, newer]));

    await cleanUp(flow.app, () => false);
    assert.notEqual((await flow.endpoint(hook.id)).previousSealedSecret, null);
    advanceClock(601_000);
    await cleanUp(flow.app, () => false);
    const after = await flow.endpoint(hook.id);
    assert.deepEqual([after.previousSealedSecret, after.previousSignsUntil], [null, null]);
    assert.equal(flow.app.secretBox.open(after.sealedSecret), next);
  });

  it('cannot be rolled with an invalid overlap or for a deleted endpoint', async () => {
    const hook = await flow.addEndpoint();
    for (const expires_in of [-1, 86_401, 1.5])
      assertInvalid(await roll(hook, { expires_in }), 'parameter_invalid_integer', 'expires_in');
    assertInvalid(await roll(hook, { overlap: 1 }), 'parameter_unknown', 'overlap');
    await flow.api.delete(`/v1/webhook_endpoints/${hook.id}`).expect(200);
    assertMissing(await roll(hook));
    await eventually(async () => assert.equal((await flow.endpoint(hook.id)).previousSealedSecret, null));
  });
});
