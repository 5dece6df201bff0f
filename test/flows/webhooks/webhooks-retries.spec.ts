import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import Stripe from 'stripe';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { answer, hang } from '../../../lab/world/receiver/receiver.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import type { WebhookDelivery } from '../../../shared/webhooks/model.js';
import { forAllTests } from '../../support/hooks.js';
import { type Hook, openWebhookFlow } from '../../support/webhook-flow.js';

const TRIES = 14;
const FIRST_PAUSE_MS = 33_300;

describe('webhook deliveries that fail', () => {
  const flow = forAllTests(() => openWebhookFlow('webhooks_retries'));
  afterEach(async () => {
    resetClock();
    const { data } = (await flow.api.get('/v1/webhook_endpoints')).body;
    await Promise.all(data.map(({ id }: Hook) => flow.api.delete(`/v1/webhook_endpoints/${id}`)));
  });

  const statusOf = async ({ id }: Hook): Promise<string> => (await flow.endpoint(id)).status;

  async function travelTo({ dueAt, endpointId }: WebhookDelivery): Promise<void> {
    assert.ok(dueAt !== null);
    advanceClock(Math.max(0, dueAt.getTime() - nowMs()));
    await flow.enqueueDeliveries(endpointId);
  }

  /** The oldest delivery of an endpoint with several, after this many tries. */
  const oldestAfter = (hook: Hook, tries: number): Promise<WebhookDelivery> =>
    eventually(async () => {
      const [oldest] = await flow.deliveries(hook.id);
      assert.deepEqual([oldest?.tries, oldest?.leasedUntil], [tries, null]);
      return oldest as WebhookDelivery;
    });

  it('are tried 14 times within 68.2 to 75.8 hours, at the announced times', async () => {
    const hook = await flow.addEndpoint();
    hook.receiver.react(answer(500));
    await flow.expireSession();
    const promised: number[] = [];
    for (let tries = 1; tries < TRIES; tries += 1) {
      const row = await flow.afterTries(hook.id, tries);
      assert.equal(row.status, 'pending');
      assert.equal(hook.receiver.got.length, tries);
      assert.equal(await statusOf(hook), 'enabled');
      promised.push(row.dueAt?.getTime() ?? 0);
      await travelTo(row);
    }
    const { status, dueAt, history } = await flow.afterTries(hook.id, TRIES);
    assert.deepEqual(
      [status, dueAt, history.length, hook.receiver.got.length],
      ['failed', null, TRIES, TRIES],
    );
    assert.equal(await statusOf(hook), 'disabled');
    const at = history.map((entry) => Date.parse(entry.at));
    const [first = 0, ...later] = at;
    for (const [index, start] of later.entries()) {
      // Each pause is twice the one before it, less up to a tenth, and begins when the try has ended.
      const full = FIRST_PAUSE_MS * 2 ** index;
      const pause = (promised[index] ?? 0) - (at[index] ?? 0);
      assert.ok(pause >= full * 0.9 - 1 && pause <= full + 5000, `${pause} ms after try ${index + 1}`);
      const late = start - (promised[index] ?? 0);
      assert.ok(late >= 0 && late < 5000, `try ${index + 2} began ${late} ms late`);
    }
    const hours = ((later.at(-1) ?? 0) - first) / 3_600_000;
    assert.ok(hours >= 68.2 && hours <= 75.8, `${hours} h`);
    // No 15th try comes, however late it is.
    advanceClock(400 * 3_600_000);
    await flow.addEndpoint().then(async (other) => {
      await flow.expireSession();
      await flow.untilSucceeded(other.id, 1);
    });
    assert.equal(hook.receiver.got.length, TRIES);
  });

  it('do not disable an endpoint with a success since their first try', async () => {
    const hook = await flow.addEndpoint();
    hook.receiver.react(answer(500));
    await flow.expireSession();
    await travelTo(await flow.afterTries(hook.id, 1));
    await flow.afterTries(hook.id, 2);
    hook.receiver.react(answer(200));
    await flow.expireSession();
    await flow.untilSucceeded(hook.id, 1);
    hook.receiver.react(answer(500));
    for (let tries = 2; tries < TRIES; tries += 1) await travelTo(await oldestAfter(hook, tries));
    const { status } = await oldestAfter(hook, TRIES);
    assert.equal(status, 'failed');
    assert.equal(await statusOf(hook), 'enabled');
  });

  it('do not disable an endpoint with a success during their first try', async () => {
    const hook = await flow.addEndpoint();
    let first = true;
    hook.receiver.react((response, event) => {
      if (!first) return answer(200)(response, event);
      first = false;
      hang(response, event);
    });
    await flow.expireSession();
    await eventually(() => assert.equal(hook.receiver.got.length, 1));
    advanceClock(2000);
    await flow.expireSession();
    await flow.untilSucceeded(hook.id, 1);
    hook.receiver.react(answer(500));
    for (let tries = 1; tries < TRIES; tries += 1) await travelTo(await oldestAfter(hook, tries));
    const row = await oldestAfter(hook, TRIES);
    assert.equal(row.history[0]?.error, 'timeout');
    assert.equal(row.status, 'failed');
    assert.equal(await statusOf(hook), 'enabled');
  });

  it('disable an endpoint when all tries failed, and the other deliveries are held', async () => {
    const hook = await flow.addEndpoint();
    hook.receiver.react(answer(500));
    await flow.expireSession();
    for (let tries = 1; tries < TRIES; tries += 1) {
      const row = await oldestAfter(hook, tries);
      if (tries === TRIES - 1) {
        await flow.expireSession();
        await eventually(async () => assert.equal((await flow.deliveries(hook.id))[1]?.tries, 1));
      }
      await travelTo(row);
    }
    await oldestAfter(hook, TRIES);
    await eventually(async () => {
      const [, young] = await flow.deliveries(hook.id);
      // The younger delivery was due as well, and may be in flight.
      assert.deepEqual(
        [young?.status, young?.leasedUntil, await statusOf(hook)],
        ['pending', null, 'disabled'],
      );
    });
    const [, held] = await flow.deliveries(hook.id);
    if (held?.dueAt != null) await travelTo(held);
    assert.equal((await flow.deliveries(hook.id))[1]?.status, 'pending');
    hook.receiver.react(answer(200));
    await flow.api.post(`/v1/webhook_endpoints/${hook.id}`, { disabled: false }).expect(200);
    await flow.untilSucceeded(hook.id, 1);
    await eventually(async () => assert.equal((await flow.endpoint(hook.id)).failingSince, null));
  });

  it("go to the endpoint's current URL", async () => {
    const [hook, moved] = [
      await flow.addEndpoint(),
      await flow.addEndpoint({ enabled_events: ['checkout.session.completed'] }),
    ];
    hook.receiver.react(answer(500));
    await flow.expireSession();
    const row = await flow.afterTries(hook.id, 1);
    const { url } = moved.receiver;
    await flow.api.post(`/v1/webhook_endpoints/${hook.id}`, { url }).expect(200);
    await travelTo(row);
    assert.equal((await flow.afterTries(hook.id, 2)).status, 'succeeded');
    assert.deepEqual([hook.receiver.got.length, moved.receiver.got.length], [1, 1]);
    assert.equal(moved.receiver.got[0]?.raw, hook.receiver.got[0]?.raw);
  });

  it("are signed with the endpoint's current secret", async () => {
    const hook = await flow.addEndpoint();
    hook.receiver.react(answer(500));
    await flow.expireSession();
    const row = await flow.afterTries(hook.id, 1);
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    await flow
      .db('webhookEndpoints')
      .where({ id: hook.id })
      .update({ sealedSecret: flow.app.secretBox.seal(secret) });
    await travelTo(row);
    await flow.afterTries(hook.id, 2);
    const [first, second] = hook.receiver.got.map(({ raw, headers }) => ({
      raw,
      signature: String(headers['service-signature']),
    }));
    const { webhooks } = new Stripe('svc_ck_test_none');
    webhooks.constructEvent(first?.raw ?? '', first?.signature ?? '', hook.secret);
    assert.throws(() => webhooks.constructEvent(second?.raw ?? '', second?.signature ?? '', hook.secret));
    // The second delivery is signed with the moved clock's time.
    const tolerance = 300_000;
    webhooks.constructEvent(second?.raw ?? '', second?.signature ?? '', secret, tolerance);
  });
});
