import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import { Event } from '../../shared/webhooks/model.js';
import { client } from '../support/api-client.js';
import { assertRefused, runJson } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { forAllTests } from '../support/hooks.js';
import { testServices } from '../support/suite.js';
import { type Hook, openWebhookFlow } from '../support/webhook-flow.js';

describe('merchants resend-event', () => {
  const flow = forAllTests(() => openWebhookFlow('resend_event'));
  let event: string;
  let hooks: Hook[];
  useCliDatabase(() => flow.databaseUrl);
  before(async () => {
    hooks = [await flow.addEndpoint(), await flow.addEndpoint()];
    const id = await flow.expireSession();
    event = (await Event.query(flow.db).findOne({ payableId: id }).throwIfNotFound()).id;
    for (const hook of hooks) await flow.untilSucceeded(hook.id, 1);
  });

  const untilGot = (hook: Hook | undefined, count: number): Promise<void> =>
    eventually(() => assert.equal(hook?.receiver.got.length, count));

  it('sends the event again, with the same id and bytes, to every subscribed endpoint', async () => {
    const uninterested = await flow.addEndpoint({ enabled_events: ['checkout.session.completed'] });
    const { deliveries, event: printed } = await runJson('resend-event', event);
    assert.equal(printed, event);
    assert.deepEqual(deliveries.map(({ endpoint }) => endpoint).sort(), hooks.map(({ id }) => id).sort());
    for (const hook of hooks) {
      await flow.untilSucceeded(hook.id, 2);
      const [first, again] = hook.receiver.got;
      assert.equal(again?.raw, first?.raw);
      assert.equal(again?.headers['webhook-id'], event);
    }
    assert.equal(uninterested.receiver.got.length, 0);
  });

  it('sends the event to one endpoint, even if it does not subscribe to the type', async () => {
    const [hook, other] = hooks;
    const { deliveries } = await runJson('resend-event', event, '--endpoint', hook?.id ?? '');
    assert.deepEqual(deliveries.length, 1);
    assert.match(deliveries[0]?.id ?? '', /^wd_/);
    await untilGot(hook, 3);
    assert.equal(other?.receiver.got.length, 2);
    const later = await flow.addEndpoint({ enabled_events: ['checkout.session.completed'] });
    await runJson('resend-event', event, '--endpoint', later.id);
    await untilGot(later, 1);
  });

  it('refuses an event or endpoint that it cannot use with one line', async () => {
    const live = client(flow.app, flow.merchant.liveKey);
    const { id: liveId } = await flow.addEndpoint({ url: 'https://127.0.0.1:1/' }, live);
    const stranger = await buildMerchant(flow.db);
    const { id: foreign } = await flow.addEndpoint({}, client(flow.app, stranger.testKey));
    const { id: disabled } = await flow.addEndpoint();
    await flow.api.post(`/v1/webhook_endpoints/${disabled}`, { disabled: true }).expect(200);
    const { id: deleted } = await flow.addEndpoint();
    await flow.api.delete(`/v1/webhook_endpoints/${deleted}`).expect(200);
    const rows = async (): Promise<number> => (await flow.db('webhookDeliveries')).length;
    const before = await rows();
    await assertRefused(/event/, 'resend-event');
    await assertRefused(/No such event: 'evt_none'/, 'resend-event', 'evt_none');
    for (const endpoint of [liveId, foreign, disabled, deleted, 'we_none']) {
      await assertRefused(
        new RegExp(`^.*${endpoint} is not an enabled webhook endpoint`),
        'resend-event',
        event,
        '--endpoint',
        endpoint,
      );
    }
    for (const { id } of hooks) await flow.api.delete(`/v1/webhook_endpoints/${id}`).expect(200);
    const { data } = (await flow.api.get('/v1/webhook_endpoints')).body;
    for (const { id } of data) await flow.api.post(`/v1/webhook_endpoints/${id}`, { disabled: true });
    await assertRefused(/No enabled webhook endpoint .* subscribes/, 'resend-event', event);
    assert.equal(await rows(), before);
    assert.ok(testServices().databaseUrl !== flow.databaseUrl);
  });
});
