import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { PausePoint } from '../../../lab/world/processes/pause-points.js';
import { answer, type Reaction } from '../../../lab/world/receiver/receiver.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { WebhookDelivery } from '../../../shared/webhooks/model.js';
import { forAllTests } from '../../support/hooks.js';
import { type Hook, openWebhookFlow } from '../../support/webhook-flow.js';

describe('pending webhook deliveries', () => {
  const flow = forAllTests(() => openWebhookFlow('webhooks_held'));
  afterEach(async () => {
    await PausePoint.removeAll();
    resetClock();
    const { data } = (await flow.api.get('/v1/webhook_endpoints')).body;
    await Promise.all(data.map(({ id }: Hook) => flow.api.delete(`/v1/webhook_endpoints/${id}`)));
  });

  const disable = ({ id }: Hook, disabled: boolean) =>
    flow.api.post(`/v1/webhook_endpoints/${id}`, { disabled }).expect(200);
  const remove = ({ id }: Hook) => flow.api.delete(`/v1/webhook_endpoints/${id}`).expect(200);
  /** Waits until all due deliveries have been checked: a later event has arrived at another endpoint. */
  async function afterDueCheck(hook: Hook): Promise<void> {
    const other = await flow.addEndpoint({ enabled_events: ['checkout.session.completed'] });
    await flow.enqueueDeliveries(hook.id);
    const { id } = await flow.buildSession();
    assert.equal((await flow.pay(id)).status, 200);
    await flow.untilSucceeded(other.id, 1);
  }

  /** A receiver that answers when `end` is called. */
  function held(): { reaction: Reaction; waits: () => boolean; end: (status: number) => void } {
    let end: ((status: number) => void) | undefined;
    return {
      reaction: (response) => {
        end = (status) => response.writeHead(status).end();
      },
      waits: () => end !== undefined,
      end: (status) => end?.(status),
    };
  }

  it('of a disabled endpoint are held, past their due time, and due when it is enabled', async () => {
    const hook = await flow.addEndpoint({ enabled_events: ['checkout.session.expired'] });
    hook.receiver.react(answer(500));
    await flow.expireSession();
    const { dueAt } = await flow.afterTries(hook.id, 1);
    await disable(hook, true);
    await disable(hook, true);
    advanceClock(1_000_000);
    await afterDueCheck(hook);
    const [row] = await flow.deliveries(hook.id);
    assert.deepEqual([row?.status, row?.tries, hook.receiver.got.length], ['pending', 1, 1]);
    assert.equal(row?.dueAt?.getTime(), dueAt?.getTime());
    resetClock();
    hook.receiver.react(answer(200));
    await disable(hook, false);
    // The delivery is tried at once, and not at the planned time of the retry.
    const { tries, status } = await flow.afterTries(hook.id, 2);
    assert.deepEqual([tries, status], [2, 'succeeded']);
  });

  it('are due when their endpoint is enabled, although their last try was by a clock that was ahead', async () => {
    const hook = await flow.addEndpoint({ enabled_events: ['checkout.session.expired'] });
    hook.receiver.react(answer(500));
    await flow.expireSession();
    const { id } = await flow.afterTries(hook.id, 1);
    await disable(hook, true);
    await flow.db.raw(
      `UPDATE webhook_deliveries SET due_at = now() + interval '2 hours',
         history = jsonb_set(history, '{-1,at}', to_jsonb(now() + interval '1 hour')) WHERE id = ?`,
      [id],
    );
    hook.receiver.react(answer(200));
    await disable(hook, false);
    assert.equal((await flow.afterTries(hook.id, 2)).status, 'succeeded');
  });

  it('in flight when their endpoint is disabled are completed, and held if they fail', async () => {
    const hook = await flow.addEndpoint({ enabled_events: ['checkout.session.expired'] });
    const dial = held();
    hook.receiver.react(dial.reaction);
    await flow.expireSession();
    await eventually(() => assert.ok(dial.waits()));
    await disable(hook, true);
    dial.end(500);
    const { dueAt } = await flow.afterTries(hook.id, 1);
    advanceClock((dueAt?.getTime() ?? 0) - nowMs());
    await afterDueCheck(hook);
    const [row] = await flow.deliveries(hook.id);
    assert.deepEqual([row?.status, row?.tries, hook.receiver.got.length], ['pending', 1, 1]);
  });

  it('that failed after their endpoint was disabled are due at once when it is enabled', async () => {
    const hook = await flow.addEndpoint();
    const dial = held();
    hook.receiver.react(dial.reaction);
    await flow.expireSession();
    await eventually(() => assert.ok(dial.waits()));
    await disable(hook, true);
    dial.end(500);
    await flow.afterTries(hook.id, 1);
    hook.receiver.react(answer(200));
    await disable(hook, false);
    assert.equal((await flow.afterTries(hook.id, 2)).status, 'succeeded');
  });

  it('in flight while their endpoint is disabled and enabled again are not sent twice', async () => {
    const hook = await flow.addEndpoint({ enabled_events: ['checkout.session.expired'] });
    const dial = held();
    hook.receiver.react(dial.reaction);
    await flow.expireSession();
    await eventually(() => assert.ok(dial.waits()));
    await disable(hook, true);
    await disable(hook, false);
    await afterDueCheck(hook);
    dial.end(200);
    assert.equal((await flow.afterTries(hook.id, 1)).status, 'succeeded');
    assert.equal(hook.receiver.got.length, 1);
  });

  it('in flight while their endpoint is disabled and enabled again are due at once if they fail', async () => {
    const hook = await flow.addEndpoint({ enabled_events: ['checkout.session.expired'] });
    hook.receiver.react(answer(500));
    await flow.expireSession();
    const { id } = await flow.afterTries(hook.id, 1);
    const dial = held();
    hook.receiver.react(dial.reaction);
    // The pause after the next try is hours long.
    await WebhookDelivery.query(flow.db)
      .patch({ tries: 11, dueAt: new Date(nowMs()) })
      .where({ id });
    await eventually(() => assert.ok(dial.waits()));
    await disable(hook, true);
    await disable(hook, false);
    // The endpoint's deliveries have been made due, without the one in flight.
    await eventually(async () => assert.equal((await flow.endpoint(hook.id)).sweptTo, null));
    hook.receiver.react(answer(200));
    dial.end(500);
    assert.equal((await flow.afterTries(hook.id, 13)).status, 'succeeded');
  });

  it('of a deleted endpoint are dropped and never sent', async () => {
    const hook = await flow.addEndpoint({ enabled_events: ['checkout.session.expired'] });
    hook.receiver.react(answer(500));
    await flow.expireSession();
    await flow.afterTries(hook.id, 1);
    await remove(hook);
    const [row] = await flow.deliveries(hook.id);
    assert.deepEqual([row?.status, row?.dueAt, row?.tries], ['dropped', null, 1]);
    advanceClock(1_000_000);
    await afterDueCheck(hook);
    assert.equal(hook.receiver.got.length, 1);
  });

  it('of an endpoint that is deleted while disabled are dropped', async () => {
    const hook = await flow.addEndpoint();
    hook.receiver.react(answer(500));
    await flow.expireSession();
    await flow.afterTries(hook.id, 1);
    await disable(hook, true);
    await remove(hook);
    assert.equal((await flow.deliveries(hook.id))[0]?.status, 'dropped');
  });

  for (const status of [200, 500]) {
    it(`in flight when their endpoint is deleted stay dropped when the answer is ${status}`, async () => {
      const hook = await flow.addEndpoint({ enabled_events: ['checkout.session.expired'] });
      const dial = held();
      hook.receiver.react(dial.reaction);
      await flow.expireSession();
      await eventually(() => assert.ok(dial.waits()));
      await remove(hook);
      dial.end(status);
      advanceClock(1_000_000);
      await afterDueCheck(hook);
      const [row] = await flow.deliveries(hook.id);
      assert.deepEqual([row?.status, row?.dueAt, row?.tries], ['dropped', null, 0]);
      assert.equal(hook.receiver.got.length, 1);
    });
  }

  it("do not deadlock with the endpoint's deletion while a success is written after a failure", async () => {
    const hook = await flow.addEndpoint();
    hook.receiver.react(answer(500));
    await flow.expireSession();
    const { dueAt } = await flow.afterTries(hook.id, 1);
    hook.receiver.react(answer(200));
    const point = await PausePoint.put(flow.databaseUrl, {
      table: 'webhook_deliveries',
      on: 'UPDATE',
      when: `NEW.status = 'succeeded'`,
      moment: 'statement',
    });
    advanceClock((dueAt?.getTime() ?? 0) - nowMs());
    await flow.enqueueDeliveries(hook.id);
    await point.reached();
    const removed = remove(hook).then(({ status }) => status);
    await eventually(async () => {
      const { rows } = await flow.db.raw(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'transactionid'`,
      );
      assert.equal(rows.length, 1, 'the deletion does not wait for the delivery');
    });
    await point.release();
    assert.equal(await removed, 200);
    assert.equal((await flow.deliveries(hook.id))[0]?.status, 'succeeded');
    assert.equal((await flow.endpoint(hook.id)).failingSince, null);
  });
});
