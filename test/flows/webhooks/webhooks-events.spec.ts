import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { PausePoint } from '../../../lab/world/processes/pause-points.js';
import { answer, type ReceivedEvent } from '../../../lab/world/receiver/receiver.js';
import { buildMerchant, buildSession } from '../../../lab/world/shop/factories.js';
import { advanceClock, now, resetClock } from '../../../shared/process/clock.js';
import { Event, WebhookDelivery } from '../../../shared/webhooks/model.js';
import { client } from '../../support/api-client.js';
import { forAllTests } from '../../support/hooks.js';
import { type Hook, openWebhookFlow } from '../../support/webhook-flow.js';

const COMPLETED = 'checkout.session.completed';
const EXPIRED = 'checkout.session.expired';

/** The fields of an event that these tests read. */
interface EventBody {
  id: string;
  created: number;
  data: {
    object: {
      id: string;
      status: string;
      url: string | null;
      metadata: object;
      payment: { status: string } | null;
    };
  };
}

describe('webhook events', () => {
  const flow = forAllTests(() => openWebhookFlow('webhooks_events'));
  after(resetClock);
  afterEach(async () => {
    await PausePoint.removeAll();
    const { data } = (await flow.api.get('/v1/webhook_endpoints')).body;
    await Promise.all(data.map(({ id }: Hook) => flow.api.delete(`/v1/webhook_endpoints/${id}`)));
  });

  const untilGot = (hook: Hook, count: number): Promise<readonly ReceivedEvent[]> =>
    eventually(() => {
      assert.equal(hook.receiver.got.length, count);
      return hook.receiver.got;
    });
  const bodyOf = (got: ReceivedEvent | undefined): EventBody => JSON.parse(got?.raw ?? '');

  it('report a paid session, one that the merchant expires, and one whose time has run out', async () => {
    const hook = await flow.addEndpoint();
    const paid = await flow.buildSession({ metadata: { order: '7' }, customerEmail: 'buyer@mail.example' });
    assert.equal((await flow.pay(paid.id)).status, 200);
    await untilGot(hook, 1);
    const ended = await flow.expireSession();
    await untilGot(hook, 2);
    const late = await flow.buildSession({ expiresAt: now() });
    const got = await untilGot(hook, 3);
    for (const [index, [type, id, status]] of (
      [
        [COMPLETED, paid.id, 'complete'],
        [EXPIRED, ended, 'expired'],
        [EXPIRED, late.id, 'expired'],
      ] as const
    ).entries()) {
      const { data, created, id: eventId, ...head } = bodyOf(got[index]);
      assert.deepEqual(head, { object: 'event', api_version: '2026-10-15', livemode: false, type });
      assert.match(eventId, /^evt_[A-Za-z0-9]{20,}$/);
      assert.ok(Math.abs(created - Date.now() / 1000) < 30);
      assert.deepEqual([data.object.id, data.object.status, data.object.url], [id, status, null]);
      assert.deepEqual(Object.keys(data), ['object']);
      // The event has the full CheckoutSession, byte for byte as the merchant retrieves it.
      const { text } = await flow.api.get(`/v1/checkout/sessions/${id}`);
      assert.ok(got[index]?.raw.endsWith(`,"data":{"object":${text}}}`));
    }
    assert.equal(bodyOf(got[0]).data.object.payment?.status, 'succeeded');
  });

  it('keep the session as it was, byte for byte on each try, with a new signature', async () => {
    const hook = await flow.addEndpoint();
    hook.receiver.react(answer(500));
    const id = await flow.expireSession();
    await flow.afterTries(hook.id, 1);
    await flow
      .db('checkoutSessions')
      .where({ id })
      .update({ metadata: { changed: 'later' } });
    for (const tries of [2, 3]) {
      advanceClock(100_000);
      await flow.afterTries(hook.id, tries);
    }
    const [first, second, third] = hook.receiver.got;
    assert.deepEqual(bodyOf(first).data.object.metadata, {});
    assert.deepEqual([second?.raw, third?.raw], [first?.raw, first?.raw]);
    const header = (name: string): (string | undefined)[] =>
      hook.receiver.got.map(({ headers }) => String(headers[name]));
    assert.equal(new Set(header('webhook-id')).size, 1);
    for (const name of ['service-signature', 'webhook-signature', 'webhook-timestamp']) {
      assert.equal(new Set(header(name)).size, 3, name);
    }
    resetClock();
  });

  it("can be verified with Stripe's SDK and with standardwebhooks, and not with another secret or body", async () => {
    const [hook, other] = [await flow.addEndpoint(), await flow.addEndpoint()];
    const { id } = await flow.buildSession({ metadata: { name: 'Zoë 🥐 "x" \\ <&>\u2028' } });
    assert.equal((await flow.pay(id)).status, 200);
    const [got] = await untilGot(hook, 1);
    const { raw = '', headers = {} } = got ?? {};
    const signature = String(headers['service-signature']);
    assert.match(signature, /^t=\d{10},v1=[0-9a-f]{64}$/);
    const { webhooks } = new Stripe('svc_ck_test_none');
    const event = webhooks.constructEvent(raw, signature, hook.secret);
    assert.equal(event.type, COMPLETED);
    assert.equal(event.id, headers['webhook-id']);
    assert.throws(() => webhooks.constructEvent(raw, signature, other.secret));
    assert.throws(() => webhooks.constructEvent(`${raw} `, signature, hook.secret));
    const sent = {
      'webhook-id': String(headers['webhook-id']),
      'webhook-timestamp': String(headers['webhook-timestamp']),
      'webhook-signature': String(headers['webhook-signature']),
    };
    assert.deepEqual(new Webhook(hook.secret).verify(raw, sent), JSON.parse(raw));
    assert.throws(() => new Webhook(other.secret).verify(raw, sent));
    assert.throws(() => new Webhook(hook.secret).verify(raw.replace(id, 'cs_test_other'), sent));
    const age = Date.now() / 1000 - Number(sent['webhook-timestamp']);
    assert.ok(age > -5 && age < 15, `${age} s`);
    assert.equal(signature.slice(2, 12), sent['webhook-timestamp']);
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(Buffer.byteLength(raw), Number(headers['content-length']));
    const [elsewhere] = await untilGot(other, 1);
    assert.equal(elsewhere?.raw, raw);
  });

  it('go to every enabled endpoint that subscribes to them in their mode, and to no other', async () => {
    const stranger = await buildMerchant(flow.db);
    const { liveKey } = flow.merchant;
    const live = client(flow.app, liveKey);
    const wanted = [
      await flow.addEndpoint(),
      await flow.addEndpoint({ enabled_events: ['*'] }),
      await flow.addEndpoint({ enabled_events: [EXPIRED] }),
      await flow.addEndpoint({ enabled_events: [COMPLETED, EXPIRED] }),
      await flow.addEndpoint({ enabled_events: [COMPLETED, '*'] }),
    ];
    const disabled = await flow.addEndpoint();
    await flow.api.post(`/v1/webhook_endpoints/${disabled.id}`, { disabled: true }).expect(200);
    const deleted = await flow.addEndpoint();
    await flow.api.delete(`/v1/webhook_endpoints/${deleted.id}`).expect(200);
    const unwanted = [
      await flow.addEndpoint({ enabled_events: [COMPLETED] }),
      await flow.addEndpoint({ url: 'https://127.0.0.1:1/' }, live),
      await flow.addEndpoint({}, client(flow.app, stranger.testKey)),
      disabled,
      deleted,
    ];
    const id = await flow.expireSession();
    const event = await Event.query(flow.db).findOne({ payableId: id }).throwIfNotFound();
    const rows = await WebhookDelivery.query(flow.db).where({ eventId: event.id });
    assert.deepEqual(rows.map(({ endpointId }) => endpointId).sort(), wanted.map((hook) => hook.id).sort());
    for (const hook of wanted) await flow.untilSucceeded(hook.id, 1);
    for (const hook of wanted) assert.equal(hook.receiver.got.length, 1);
    for (const hook of unwanted) assert.equal(hook.receiver.got.length, 0);
    // The delivery was not created while the endpoint was disabled, so enabling it sends nothing.
    await flow.api.post(`/v1/webhook_endpoints/${disabled.id}`, { disabled: false }).expect(200);
    assert.deepEqual(await flow.deliveries(disabled.id), []);
  });

  it('of a live session go to live endpoints only', async () => {
    const live = client(flow.app, flow.merchant.liveKey);
    const endpoint = await flow.addEndpoint({ url: 'https://127.0.0.1:1/' }, live);
    const test = await flow.addEndpoint();
    const { id } = await buildSession(flow.db, flow.merchant.accountId, { livemode: true });
    await live.post(`/v1/checkout/sessions/${id}/expire`).expect(200);
    const delivery = await flow.afterTries(endpoint.id, 1);
    assert.equal(delivery.history[0]?.error, 'ECONNREFUSED');
    const event = await Event.query(flow.db).findById(delivery.eventId).throwIfNotFound();
    assert.equal(event.livemode, true);
    assert.deepEqual(await flow.deliveries(test.id), []);
    await live.delete(`/v1/webhook_endpoints/${endpoint.id}`);
  });

  it('go to twenty endpoints, each with its own delivery', async () => {
    const hooks = await Promise.all(Array.from({ length: 20 }, () => flow.addEndpoint()));
    hooks[7]?.receiver.react(answer(500));
    await flow.expireSession();
    for (const hook of hooks) await untilGot(hook, 1);
    assert.equal(new Set(hooks.map(({ receiver }) => receiver.got[0]?.raw)).size, 1);
    for (const [index, hook] of hooks.entries()) {
      const { status } = await flow.afterTries(hook.id, 1);
      assert.equal(status, index === 7 ? 'pending' : 'succeeded');
    }
  });

  for (const table of ['events', 'webhook_deliveries'] as const) {
    it(`are committed with the change of status or not at all: crash after the insert into ${table}`, async () => {
      const hook = await flow.addEndpoint();
      const point = await PausePoint.put(flow.databaseUrl, {
        table,
        on: 'INSERT',
        when: 'true',
        moment: 'commit',
      });
      const { id } = await flow.buildSession();
      const answered = flow.api.post(`/v1/checkout/sessions/${id}/expire`).then(({ status }) => status);
      await point.reached();
      await point.terminate();
      assert.equal(await answered, 503);
      assert.equal((await flow.session(id)).status, 'open');
      assert.deepEqual(await Event.query(flow.db).where({ payableId: id }), []);
      assert.deepEqual(await flow.deliveries(hook.id), []);
      await point.remove();
      await flow.api.post(`/v1/checkout/sessions/${id}/expire`).expect(200);
      await untilGot(hook, 1);
    });
  }

  it('do not make a payment fail when an endpoint is deleted or disabled at that moment', async () => {
    const hooks = await Promise.all(Array.from({ length: 5 }, () => flow.addEndpoint()));
    const point = await PausePoint.put(flow.databaseUrl, {
      table: 'webhook_deliveries',
      on: 'INSERT',
      when: 'true',
      moment: 'statement',
    });
    const { id } = await flow.buildSession();
    const paying = flow.pay(id).then(({ status }) => status);
    await point.reached();
    // The event is written and not yet committed; deleting and disabling its endpoints does not wait for it.
    const [deleted, disabled, ...others] = hooks;
    await flow.api.delete(`/v1/webhook_endpoints/${deleted?.id}`).expect(200);
    await flow.api.post(`/v1/webhook_endpoints/${disabled?.id}`, { disabled: true }).expect(200);
    await point.release();
    assert.equal(await paying, 200);
    for (const hook of others) await untilGot(hook, 1);
    const state = async (hook: Hook | undefined): Promise<unknown> => {
      const [row, ...more] = await flow.deliveries(hook?.id ?? '');
      assert.equal(more.length, 0);
      return [row?.status, row?.leasedUntil];
    };
    await eventually(async () => assert.deepEqual(await state(deleted), ['dropped', null]));
    await eventually(async () => assert.deepEqual(await state(disabled), ['pending', null]));
    assert.deepEqual([deleted?.receiver.got, disabled?.receiver.got], [[], []]);
    await flow.api.post(`/v1/webhook_endpoints/${disabled?.id}`, { disabled: false }).expect(200);
    assert.equal((await untilGot(disabled as Hook, 1)).length, 1);
  });
});
