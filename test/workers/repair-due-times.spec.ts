import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { now } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';
import { findDueAccounts, listQuarantinedDeliveries } from '../../shared/webhooks/find-due.js';
import { WebhookDelivery, WebhookEndpoint } from '../../shared/webhooks/model.js';
import { repairDueTimes } from '../../shared/webhooks/repair-due-times.js';
import { LEASE_MS, takeDueDeliveries } from '../../shared/webhooks/take-due.js';
import { repairDueTimesRegularly } from '../../workers/process/repair-due-times-regularly.js';
import { forAllTests } from '../support/hooks.js';
import { ALLOWANCE, type Hook, openWebhookFlow } from '../support/webhook-flow.js';

const HOUR_MS = 3_600_000;

describe("deliveries that were written before Postgres' clock was set back by an hour", () => {
  const flow = forAllTests(() => openWebhookFlow('repair_due_times', { worker: false }));
  let hook: Hook;
  let ids: string[];
  before(async () => {
    hook = await flow.addEndpoint();
  });
  beforeEach(async () => {
    await flow.expireWithoutNotifying(5);
    ids = (await flow.deliveries(hook.id)).map(({ id }) => id);
  });
  afterEach(() => flow.db('webhookDeliveries').del());

  const patch = async (of: readonly string[], row: Partial<WebhookDelivery>): Promise<number> =>
    await WebhookDelivery.query(flow.db)
      .findByIds([...of])
      .patch(row);
  const inAnHour = (ms = 0): Date => new Date(now().getTime() + HOUR_MS + ms);
  const dueCount = async (): Promise<number> =>
    (await flow.deliveries(hook.id)).filter(({ dueAt }) => dueAt !== null && dueAt <= now()).length;

  it('are due, on pages of any size', async () => {
    for (const page of [1, 2, 5, 100]) {
      await patch(ids, { dueAt: inAnHour() });
      assert.equal(await dueCount(), 0);
      await repairDueTimes(flow.db, page);
      assert.equal(await dueCount(), 5, `pages of ${page}`);
    }
  });

  it('wait when the pause after their tries is as long', async () => {
    await patch(ids, { dueAt: inAnHour(), tries: 8 });
    await repairDueTimes(flow.db);
    assert.equal(await dueCount(), 0);
  });

  it('are due when workers have crashed on them, and their leases end within a minute', async () => {
    await WebhookEndpoint.query(flow.db).findById(hook.id).patch({ failingSince: now() });
    const lease = inAnHour(LEASE_MS);
    await patch(ids.slice(0, 4), { dueAt: lease, leasedUntil: lease, lostTakes: 2, attempt: 2 });
    await repairDueTimes(flow.db);
    assert.equal((await listQuarantinedDeliveries(flow.db, 20)).length, 4);
    const leases = (await flow.deliveries(hook.id)).flatMap(({ leasedUntil }) => leasedUntil ?? []);
    assert.equal(leases.length, 4);
    assert.ok(leases.every((until) => until.getTime() <= now().getTime() + 60_000));
    // Stands for the minute: a failing endpoint has no slot for the fifth delivery until the leases are over.
    await patch(ids.slice(0, 4), { leasedUntil: now() });
    const { due } = await findDueAccounts(flow.db, '', 100);
    assert.deepEqual(due, [flow.merchant.accountId]);
    const { deliveries } = await takeDueDeliveries(flow.db, flow.merchant.accountId, ALLOWANCE);
    assert.deepEqual(
      deliveries.map(({ id }) => id),
      ids.slice(4),
    );
  });

  it('keep the pauses after crashes', async () => {
    const dueAt = inAnHour();
    await patch(ids, { dueAt, lostTakes: 9 });
    await repairDueTimes(flow.db);
    assert.equal(await dueCount(), 0);
  });

  it('are due soon also when a process writes such a time later than the worker looked', async () => {
    const deps = { db: flow.db, logger: createLogger('silent', 'test'), config: flow.app.config };
    const regularly = repairDueTimesRegularly(
      { ...deps, config: { ...deps.config, workerQueues: ['deliver-webhook'] } },
      [50],
    );
    try {
      for (let round = 0; round < 2; round += 1) {
        await patch(ids, { dueAt: inAnHour() });
        await eventually(async () => assert.equal(await dueCount(), 5));
      }
    } finally {
      await regularly.close();
    }
  });
});
