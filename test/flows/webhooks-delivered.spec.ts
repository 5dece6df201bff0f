import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { answer, type Receiver, startReceiver } from '../../lab/world/receiver/receiver.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';
import { WebhookDelivery } from '../../shared/webhooks/model.js';
import { client } from '../support/api-client.js';
import { type Checkout, openCheckout } from '../support/checkout.js';
import { createMigratedDatabase } from '../support/suite.js';

describe('webhooks', () => {
  let checkout: Checkout;
  let receiver: Receiver;
  before(async () => {
    // On a database of its own, because the spec moves the clock by days.
    const DATABASE_URL = await createMigratedDatabase('webhooks_delivered');
    checkout = await openCheckout({ environment: { DATABASE_URL, WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' } });
    receiver = await startReceiver();
  });
  after(async () => {
    resetClock();
    await checkout.close();
    await receiver.close();
  });

  it('report a paid session', async () => {
    const merchant = client(checkout.app, checkout.merchant.testKey);
    const { body: endpoint } = await merchant.post('/v1/webhook_endpoints').send({ url: receiver.url });
    const { id } = await checkout.buildSession();
    assert.equal((await checkout.pay(id)).status, 200);
    const [got] = await eventually(() => {
      assert.equal(receiver.got.length, 1);
      return receiver.got;
    });
    const event = JSON.parse(got?.raw ?? '');
    assert.equal(event.type, 'checkout.session.completed');
    assert.equal(event.data.object.id, id);
    const session = await merchant.get(`/v1/checkout/sessions/${id}`);
    assert.deepEqual(event.data.object, session.body);
    const delivery = await eventually(async () => {
      const row = await WebhookDelivery.query(checkout.app.db).findOne({ endpointId: endpoint.id });
      assert.equal(row?.status, 'succeeded');
      return row;
    });
    assert.equal(delivery?.tries, 1);
    assert.equal(delivery?.history[0]?.status, 200);
  });

  it('are tried 14 times, and then the endpoint is disabled', async () => {
    receiver.react(answer(500, 'sorry'));
    const merchant = client(checkout.app, checkout.merchant.testKey);
    const { id } = await checkout.buildSession();
    await merchant.post(`/v1/checkout/sessions/${id}/expire`);
    const load = async (): Promise<WebhookDelivery> =>
      await WebhookDelivery.query(checkout.app.db).orderBy('id', 'desc').first().throwIfNotFound();
    for (let tries = 1; tries <= 14; tries += 1) {
      const row = await eventually(async () => {
        const found = await load();
        assert.equal(found.tries, tries);
        return found;
      });
      if (row.dueAt !== null) advanceClock(row.dueAt.getTime() - nowMs());
    }
    const row = await load();
    assert.equal(row.status, 'failed');
    const times = row.history.map(({ at }) => Date.parse(at));
    const hours = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 3_600_000;
    assert.ok(hours > 68.2 && hours < 75.9, `${hours} h`);
    const { body } = await merchant.get('/v1/webhook_endpoints');
    assert.equal(body.data[0].status, 'disabled');
  });
});
