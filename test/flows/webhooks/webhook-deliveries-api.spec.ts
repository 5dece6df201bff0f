import assert from 'node:assert/strict';
import { findFreePort } from '../../../lab/world/http/listen.js';
import { answer, type Reaction, reset } from '../../../lab/world/receiver/receiver.js';
import { buildMerchant } from '../../../lab/world/shop/factories.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { newId } from '../../../shared/values/ids.js';
import { assertInvalid, assertMissing, client } from '../../support/api-client.js';
import { forAllTests } from '../../support/hooks.js';
import { idsOf, readPage } from '../../support/pages.js';
import { type Hook, openWebhookFlow } from '../../support/webhook-flow.js';

describe('the API of webhook deliveries', () => {
  const flow = forAllTests(() => openWebhookFlow('webhooks_told'));
  afterEach(resetClock);

  const pathOf = ({ id }: Pick<Hook, 'id'>, query = ''): string =>
    `/v1/webhook_endpoints/${id}/deliveries${query}`;
  const list = async (hook: Pick<Hook, 'id'>, query = '') =>
    (await flow.api.get(pathOf(hook, query)).expect(200)).body;

  it('shows time, duration and outcome of each try', async () => {
    const hook = await flow.addEndpoint();
    const reactions: Reaction[] = [
      reset,
      answer(500, 'no\0 \u001b[31mroom\r\nleft\t!'),
      answer(302, 'x'.repeat(5000), { location: '/elsewhere' }),
      answer(204),
    ];
    hook.receiver.react((response, event) => reactions.shift()?.(response, event));
    const session = await flow.expireSession();
    for (const tries of [1, 2, 3]) {
      const row = await flow.afterTries(hook.id, tries);
      const { data } = await list(hook);
      assert.equal(data[0].next_try_at, Math.floor((row.dueAt?.getTime() ?? 0) / 1000));
      assert.equal(data[0].status, 'pending');
      advanceClock((row.dueAt?.getTime() ?? 0) - nowMs());
      await flow.enqueueDeliveries(hook.id);
    }
    const row = await flow.afterTries(hook.id, 4);
    const { data, ...around } = await list(hook);
    assert.deepEqual(around, { object: 'list', url: pathOf(hook), has_more: false });
    const [{ tries, created, ...delivery }] = data;
    const { data: events } = (await flow.api.get(`/v1/events?checkout_session=${session}`)).body;
    assert.equal(created, events[0].created);
    assert.deepEqual(delivery, {
      id: row.id,
      object: 'webhook_delivery',
      event: events[0].id,
      type: 'checkout.session.expired',
      status: 'succeeded',
      next_try_at: null,
    });
    assert.deepEqual(
      tries.map(({ status, error, answer: text }: Record<string, unknown>) => [status, error, text]),
      [
        [null, 'ECONNRESET', null],
        [500, null, 'no [31mroom\nleft\t!'],
        [302, null, 'x'.repeat(1024)],
        [204, null, ''],
      ],
    );
    for (const [index, { at, duration_ms }] of tries.entries()) {
      const kept = row.history[index];
      assert.deepEqual([at, duration_ms], [Math.floor(Date.parse(kept?.at ?? '') / 1000), kept?.durationMs]);
      assert.equal(new Date(kept?.at ?? '').toISOString(), kept?.at);
      assert.ok(Number.isInteger(duration_ms) && duration_ms >= 0 && duration_ms < 5000);
    }
  });

  it('lists them newest first, in pages and by status', async () => {
    const hook = await flow.addEndpoint();
    await flow.addEndpoint();
    const closed = await findFreePort();
    await flow.expireWithoutNotifying(3);
    await flow.untilSucceeded(hook.id, 3);
    const url = `http://127.0.0.1:${closed}/`;
    await flow.api.post(`/v1/webhook_endpoints/${hook.id}`, { url }).expect(200);
    await flow.expireWithoutNotifying(1);
    await flow.enqueueDeliveries(hook.id);
    const ids = (await flow.deliveries(hook.id)).map(({ id }) => id).reverse();
    assert.deepEqual(idsOf(await list(hook)), ids);
    const first = await list(hook, '?limit=2');
    assert.deepEqual([idsOf(first), first.has_more], [ids.slice(0, 2), true]);
    assert.deepEqual(idsOf(await list(hook, `?starting_after=${ids[1]}`)), ids.slice(2));
    assert.deepEqual(idsOf(await list(hook, `?ending_before=${ids[2]}&limit=1`)), [ids[1]]);
    assert.deepEqual(idsOf(await list(hook, '?status=succeeded')), ids.slice(1));
    assert.deepEqual(idsOf(await list(hook, `?status=succeeded&limit=1&starting_after=${ids[1]}`)), [ids[2]]);
    assert.deepEqual(idsOf(await list(hook, '?status=pending')), ids.slice(0, 1));
    for (const status of ['failed', 'dropped'])
      assert.deepEqual(idsOf(await list(hook, `?status=${status}`)), []);
    assertInvalid(await flow.api.get(pathOf(hook, '?status=held')), 'parameter_invalid_enum', 'status');

    // A held delivery has no next try.
    await flow.api.post(`/v1/webhook_endpoints/${hook.id}`, { disabled: true }).expect(200);
    const [held] = (await list(hook, '?status=pending')).data;
    if (held.tries.length === 1) assert.equal(held.tries[0].error, 'ECONNREFUSED');
    assert.ok(held.next_try_at === null || held.tries.length === 0);
  });

  it('shows those of one endpoint in its own account and mode', async () => {
    const [hook, other] = [await flow.addEndpoint(), await flow.addEndpoint()];
    await flow.expireWithoutNotifying(1);
    await flow.untilSucceeded(hook.id, 1);
    const [elsewhere] = idsOf(await list(other));
    for (const cursor of [elsewhere, newId('wd_')]) {
      assertMissing(await flow.api.get(pathOf(hook, `?starting_after=${cursor}`)), 'starting_after');
      assertMissing(await flow.api.get(pathOf(hook, `?ending_before=${cursor}`)), 'ending_before');
    }
    const stranger = await buildMerchant(flow.db);
    for (const key of [flow.merchant.liveKey, stranger.testKey])
      assertMissing(await client(flow.app, key).get(pathOf(hook)));
    for (const id of [newId('we_'), 'we_1', '%00']) assertMissing(await flow.api.get(pathOf({ id })));
    await flow.api.delete(`/v1/webhook_endpoints/${hook.id}`).expect(200);
    assertMissing(await flow.api.get(pathOf(hook)));
  });

  it('shows a hundred with long histories in one page', async () => {
    const hook = await flow.addEndpoint();
    await flow.expireWithoutNotifying(1);
    const [row] = await flow.untilSucceeded(hook.id, 1);
    const words = '\\"é'.repeat(340);
    const tries = Array.from({ length: 14 }, () => ({ ...row?.history[0], answer: words }));
    await flow.db.raw(
      `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, history)
       SELECT 'wd_' || lpad(n::text, 28, '0'), :event, :endpoint, 'failed', CAST(:history AS jsonb)
       FROM generate_series(1, 100) n`,
      { event: row?.eventId ?? '', endpoint: hook.id, history: JSON.stringify(tries) },
    );
    const page = await readPage(flow.api, pathOf(hook, '?limit=100&status=failed'));
    assert.equal(page.data.length, 100);
    assert.equal(JSON.stringify(page.data.at(-1)).split(JSON.stringify(words)).length, 15);
    assert.equal(page.has_more, false);
  });
});
