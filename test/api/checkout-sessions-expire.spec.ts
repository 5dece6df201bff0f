import assert from 'node:assert/strict';
import { buildMerchant, buildSession } from '../../lab/world/shop/factories.js';
import { Event } from '../../shared/webhooks/model.js';
import { assertInvalid, client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { createOpen, SESSIONS } from '../support/orders.js';

describe('a checkout session', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildMerchant(app.db));
  const api = forAllTests(() => client(app, shop.testKey));

  describe('that its merchant expires', () => {
    async function eventsOf(id: string): Promise<Event[]> {
      return await Event.query(app.db).where('payableId', id);
    }

    it('has no url afterwards, and its event holds the same object', async () => {
      const created = await createOpen(api);
      const { body } = await api.post(`${SESSIONS}/${created.id}/expire`).expect(200);
      assert.deepEqual(body, { ...created, status: 'expired', url: null });
      assert.deepEqual((await api.get(`${SESSIONS}/${created.id}`)).body, body);
      const events = await eventsOf(created.id);
      assert.deepEqual(
        events.map(({ type, livemode, accountId }) => ({ type, livemode, accountId })),
        [{ type: 'checkout.session.expired', livemode: false, accountId: shop.accountId }],
      );
      assert.deepEqual(events[0]?.object, body);
    });

    it('takes an empty form, {} and expand only', async () => {
      const one = await createOpen(api);
      await api.form(`${SESSIONS}/${one.id}/expire`, '').expect(200);
      const two = await createOpen(api);
      await api.post(`${SESSIONS}/${two.id}/expire`, {}).expect(200);
      for (const expand of ['expand[]=line_items', 'expand[0]=line_items', 'expand=line_items']) {
        const { id } = await createOpen(api);
        const { body } = await api.form(`${SESSIONS}/${id}/expire`, expand).expect(200);
        assert.equal(body.line_items.data.length, 1);
        assert.ok(!('line_items' in ((await eventsOf(id))[0]?.object ?? {})));
      }
      const { id } = await createOpen(api);
      assertInvalid(
        await api.post(`${SESSIONS}/${id}/expire`, { reason: 'x' }),
        'parameter_unknown',
        'reason',
      );
      assertInvalid(
        await api.post(`${SESSIONS}/${id}/expire?expand[]=line_items`),
        'parameter_unknown',
        'expand',
      );
      assert.equal((await api.get(`${SESSIONS}/${id}`)).body.status, 'open');
    });

    for (const status of ['processing', 'complete', 'expired'] as const) {
      it(`stays unchanged when it is ${status}: the request is refused`, async () => {
        const { id } = await buildSession(app.db, shop.accountId, { status });
        assertInvalid(await api.post(`${SESSIONS}/${id}/expire`), 'checkout_session_not_open', 'id');
        assert.equal((await api.get(`${SESSIONS}/${id}`)).body.status, status);
        assert.deepEqual(await eventsOf(id), []);
      });
    }

    it('is expired once by concurrent requests, with one event', async () => {
      const { id } = await createOpen(api);
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => api.post(`${SESSIONS}/${id}/expire`)),
      );
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      for (const res of answers) {
        if (res.status !== 200) assertInvalid(res, 'checkout_session_not_open', 'id');
      }
      assert.equal((await eventsOf(id)).length, 1);
    });
  });
});
