import assert from 'node:assert/strict';
import type Stripe from 'stripe';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { buildMerchant } from '../../../lab/world/shop/factories.js';
import { ANSWER_PART_BYTES } from '../../../shared/limits/bounds.js';
import { newId } from '../../../shared/values/ids.js';
import { assertInvalid, assertMissing, client } from '../../support/api-client.js';
import { forAllTests } from '../../support/hooks.js';
import { idsOf, readPage } from '../../support/pages.js';
import { assertThrows, sdk } from '../../support/stripe-sdk.js';
import { type Hook, openWebhookFlow } from '../../support/webhook-flow.js';

const EVENTS = '/v1/events';

describe('the events API', () => {
  const flow = forAllTests(() => openWebhookFlow('events_again'));
  let hook: Hook;
  /** Oldest first. */
  const ids: string[] = [];
  const sessions: string[] = [];
  before(async () => {
    hook = await flow.addEndpoint();
    const { id } = await flow.buildSession({ metadata: { größe: '"½"', note: '\u2028<é>' } });
    await flow.api.post(`/v1/checkout/sessions/${id}/expire`).expect(200);
    sessions.push(id, await flow.expireSession());
    const { id: paid } = await flow.buildSession();
    await flow.pay(paid);
    await flow.untilSucceeded(hook.id, 3);
    sessions.push(paid);
    const delivered = new Map(
      hook.receiver.got.map(({ raw }) => {
        const { id: event, data } = JSON.parse(raw);
        return [data.object.id, event];
      }),
    );
    for (const session of sessions) ids.push(delivered.get(session));
  });

  const delivered = (id: string | undefined): string =>
    hook.receiver.got.find(({ raw }) => raw.includes(`"id":"${id}"`))?.raw ?? assert.fail(id);
  const newest = (): string[] => [...ids].reverse();
  const listed = async (query: string, api = flow.api): Promise<string[]> =>
    idsOf(await readPage(api, `${EVENTS}?${query}`));

  describe('lists events', () => {
    it('newest first, each byte for byte as it was delivered', async () => {
      const res = await flow.api.get(EVENTS).expect(200);
      const data = newest().map(delivered).join(',');
      assert.equal(res.text, `{"object":"list","url":"/v1/events","has_more":false,"data":[${data}]}`);
    });

    it('by type, session and time', async () => {
      const [first = '', second, third] = ids;
      assert.deepEqual(await listed('type=checkout.session.completed'), [third]);
      assert.deepEqual(await listed('type=checkout.session.expired'), [second, first]);
      assert.deepEqual(await listed(`checkout_session=${sessions[0]}`), [first]);
      assert.deepEqual(await listed(`checkout_session=${sessions[0]}&type=checkout.session.completed`), []);
      assert.deepEqual(await listed(`checkout_session=${newId('cs_test_')}`), []);
      const { created } = JSON.parse(delivered(first));
      assert.ok((await listed(`created=${created}`)).includes(first));
      assert.deepEqual(await listed(`created[lt]=${created}`), []);
      assert.deepEqual(await listed(`created[gte]=${created}`), newest());
      assertInvalid(await flow.api.get(`${EVENTS}?type=charge.succeeded`), 'parameter_invalid_enum', 'type');
      assertInvalid(await flow.api.get(`${EVENTS}?types[]=x`), 'parameter_unknown', 'types');
    });

    it('in pages, in both directions', async () => {
      const page = await readPage(flow.api, `${EVENTS}?limit=2`);
      assert.deepEqual([idsOf(page), page.has_more], [newest().slice(0, 2), true]);
      assert.deepEqual(await listed(`limit=2&starting_after=${ids[1]}`), [ids[0]]);
      assert.deepEqual(await listed(`limit=1&ending_before=${ids[0]}`), [ids[1]]);
      assertMissing(await flow.api.get(`${EVENTS}?starting_after=${newId('evt_')}`), 'starting_after');
    });

    it("of the caller's account and mode only", async () => {
      const stranger = await buildMerchant(flow.db);
      for (const key of [flow.merchant.liveKey, stranger.testKey]) {
        const api = client(flow.app, key);
        assert.deepEqual(await listed('', api), []);
        assert.deepEqual(await listed(`checkout_session=${sessions[0]}`, api), []);
        assertMissing(await api.get(`${EVENTS}/${ids[0]}`));
        assertMissing(await api.post(`${EVENTS}/${ids[0]}/resend`));
      }
    });

    it('a hundred at once, in parts when they are heavy', async () => {
      const shop = await buildMerchant(flow.db);
      const { id: session } = await flow.buildSession();
      const { rows } = await flow.db.raw(
        `INSERT INTO events (id, account_id, livemode, type, payable_id, object)
         SELECT 'evt_' || lpad(n::text, 28, '0'), :account, false, 'checkout.session.expired', :session,
           json_build_object('n', n, 'filler', repeat('é', 50000))
         FROM generate_series(1, 100) n RETURNING id, object::text AS text`,
        { account: shop.accountId, session },
      );
      let statements = 0;
      const count = (): void => {
        statements += 1;
      };
      flow.app.db.on('query', count);
      const response = await fetch(`http://127.0.0.1:${flow.app.port}${EVENTS}?limit=100`, {
        headers: { authorization: `Bearer ${shop.testKey}` },
      });
      const text = await response.text();
      flow.app.db.removeListener('query', count);
      assert.ok(Buffer.byteLength(text) > 15 * ANSWER_PART_BYTES && statements > 15);
      const { data } = JSON.parse(text);
      assert.equal(data.length, 100);
      for (const [index, { id, text: object }] of rows.reverse().entries()) {
        assert.equal(data[index].id, id);
        assert.ok(text.includes(`"data":{"object":${object}}`));
      }
    });
  });

  it('retrieves each event byte for byte as it was delivered', async () => {
    for (const id of ids) {
      const res = await flow.api.get(`${EVENTS}/${id}`).expect(200);
      assert.equal(res.text, delivered(id));
    }
    for (const id of [newId('evt_'), 'evt_1', sessions[0], '%00'])
      assertMissing(await flow.api.get(`${EVENTS}/${id}`));
  });

  describe('sends an event again', () => {
    const resend = (id: string | undefined, body: object = {}) =>
      flow.api.post(`${EVENTS}/${id}/resend`, body);
    const got = (to: Hook, id: string | undefined): string[] =>
      to.receiver.got.filter(({ headers }) => headers['webhook-id'] === id).map(({ raw }) => raw);

    it('to every enabled endpoint that now subscribes to its type, with the same id and bytes', async () => {
      const later = await flow.addEndpoint();
      const unsubscribed = await flow.addEndpoint({ enabled_events: ['checkout.session.completed'] });
      const off = await flow.addEndpoint();
      await flow.api.post(`/v1/webhook_endpoints/${off.id}`, { disabled: true }).expect(200);
      const [id] = ids;
      const res = await resend(id).expect(200);
      assert.equal(res.text, delivered(id));
      await eventually(() => assert.deepEqual([got(hook, id).length, got(later, id).length], [2, 1]));
      assert.deepEqual(new Set([...got(hook, id), ...got(later, id)]), new Set([res.text]));
      assert.deepEqual(
        (await flow.deliveries(off.id)).length + (await flow.deliveries(unsubscribed.id)).length,
        0,
      );
    });

    it('to one named endpoint, even one that does not subscribe to its type', async () => {
      const unsubscribed = await flow.addEndpoint({ enabled_events: ['checkout.session.completed'] });
      await resend(ids[1], { webhook_endpoint: unsubscribed.id }).expect(200);
      await flow.untilSucceeded(unsubscribed.id, 1);
      assert.deepEqual(got(hook, ids[1]).length, 1);
    });

    it('once for one idempotency key', async () => {
      const to = await flow.addEndpoint();
      const send = () =>
        resend(ids[2], { webhook_endpoint: to.id }).set('Idempotency-Key', 'again-1').expect(200);
      const [first, again] = [await send(), await send()];
      assert.equal(again.text, first.text);
      assert.equal(again.get('Idempotent-Replayed'), 'true');
      assert.equal((await flow.deliveries(to.id)).length, 1);
      const other = await resend(ids[1], { webhook_endpoint: to.id }).set('Idempotency-Key', 'again-1');
      assert.equal(other.body.error.code, 'idempotency_key_reused');
    });

    it('to no endpoint that is disabled, deleted, unknown or of another account', async () => {
      const off = await flow.addEndpoint();
      await flow.api.post(`/v1/webhook_endpoints/${off.id}`, { disabled: true }).expect(200);
      const refused = await resend(ids[0], { webhook_endpoint: off.id });
      assertInvalid(refused, 'webhook_endpoint_disabled', 'webhook_endpoint');
      await flow.api.delete(`/v1/webhook_endpoints/${off.id}`).expect(200);
      const stranger = await buildMerchant(flow.db);
      const foreign = await flow.addEndpoint({}, client(flow.app, stranger.testKey));
      for (const id of [off.id, foreign.id, newId('we_'), '\u00e9'])
        assertMissing(await resend(ids[0], { webhook_endpoint: id }), 'webhook_endpoint');
      assert.deepEqual(await flow.deliveries(off.id), []);
      assertMissing(await resend(newId('evt_')));
      assertInvalid(await resend(ids[0], { endpoint: off.id }), 'parameter_unknown', 'endpoint');
      assertInvalid(await resend(ids[0], { webhook_endpoint: 1 }), 'parameter_invalid', 'webhook_endpoint');
    });

    it('without an error when the account has no endpoint', async () => {
      const shop = await buildMerchant(flow.db);
      const api = client(flow.app, shop.testKey);
      const { body } = await api
        .post('/v1/checkout/sessions', {
          line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }],
        })
        .expect(200);
      await api.post(`/v1/checkout/sessions/${body.id}/expire`).expect(200);
      const [id] = idsOf(await readPage(api, EVENTS));
      await api.post(`${EVENTS}/${id}/resend`).expect(200);
    });
  });

  it("works with Stripe's SDK: list, paging, retrieve and resend", async () => {
    const stripe: Stripe = sdk(flow.merchant.testKey, flow.app.port);
    const walked: string[] = [];
    for await (const { id } of stripe.events.list({ limit: 1 })) walked.push(id);
    assert.deepEqual(walked, newest());
    const type = 'checkout.session.completed';
    const { data } = await stripe.events.list({ type, created: { gte: 0 } });
    assert.deepEqual(
      data.map(({ id }) => id),
      [ids[2]],
    );
    const event = await stripe.events.retrieve(ids[2] ?? '');
    assert.ok(event.type === type);
    assert.deepEqual([event.data.object.id, event.data.object.payment_status], [sessions[2], 'paid']);
    await stripe.rawRequest('POST', `/v1/events/${event.id}/resend`, { webhook_endpoint: hook.id });
    await eventually(() =>
      assert.equal(hook.receiver.got.filter(({ raw }) => raw.includes(event.id)).length, 2),
    );
    await assertThrows(stripe.events.retrieve('evt_none'), {
      code: 'resource_missing',
      param: 'id',
      statusCode: 404,
    });
  });

  // These specs follow the lists above, in which their events would be, too.
  describe('lists the events of a session', () => {
    it('with those of the refunds of its payment', async () => {
      const [paid = '', other = ''] = [await buildRefunded(), await buildRefunded()];
      const of = async (query: string): Promise<string[]> =>
        (await readPage(flow.api, `${EVENTS}?${query}`)).data.map(({ type }) => String(type));
      const all = ['refund.updated', 'refund.created', 'checkout.session.completed'];
      for (const session of [paid, other]) assert.deepEqual(await of(`checkout_session=${session}`), all);
      assert.deepEqual(await of(`checkout_session=${paid}&type=refund.created`), ['refund.created']);
      assert.deepEqual(await of(`checkout_session=${paid}&limit=1`), ['refund.updated']);
    });

    /** A session whose payment has a refund that was canceled. */
    async function buildRefunded(): Promise<string> {
      const { id: session } = await flow.buildSession();
      await flow.pay(session);
      const { body } = await flow.api.get(`/v1/checkout/sessions/${session}`).expect(200);
      const refund = await flow.api
        .post('/v1/refunds', { payment: body.payment.id, amount: 100 })
        .expect(200);
      await flow.api.post(`/v1/refunds/${refund.body.id}/cancel`).expect(200);
      return session;
    }
  });
});
