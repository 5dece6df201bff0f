import assert from 'node:assert/strict';
import { now } from '../../shared/process/clock.js';
import { findDueAccounts } from '../../shared/webhooks/find-due.js';
import { takeDueDeliveries } from '../../shared/webhooks/take-due.js';
import { type Crowd, openCrowd } from '../support/batch-of-payers.js';
import { captureStatements, explain } from '../support/query-plans.js';
import { openWebhookFlow, ROOM, type WebhookFlow } from '../support/webhook-flow.js';

const BACKLOG = 100_000;

describe('with 100,000 deliveries due to one account', function () {
  this.timeout(120_000);
  let flow: WebhookFlow;
  let crowd: Crowd;
  let calm: Crowd;
  before(async () => {
    flow = await openWebhookFlow('due_backlog', { worker: false });
    crowd = await openCrowd(flow.app, { hosts: 1, endpointsPerHost: 10 });
    calm = await openCrowd(flow.app, { hosts: 1, endpointsPerHost: 1 });
    await crowd.tell(1, { quietly: true });
    await flow.db.raw(
      `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, due_at)
       SELECT 'wd_' || n || endpoint_id, event_id, endpoint_id, 'pending', due_at
       FROM webhook_deliveries, generate_series(1, CAST(:each AS int)) n`,
      { each: BACKLOG / 10 },
    );
    await calm.tell(1, { quietly: true });
    await flow.db.raw('VACUUM ANALYZE webhook_deliveries');
  });
  after(async () => {
    await Promise.all([crowd.close(), calm.close()]);
    await flow.close();
  });

  /** Rows of deliveries that are looked at by what only reads and locks. */
  async function rowsRead(act: () => Promise<unknown>): Promise<number> {
    let rows = 0;
    for (const statement of await captureStatements(flow.db, act)) {
      if (/\bUPDATE webhook_deliveries\b/.test(statement.sql)) continue;
      const reads = await explain(flow.db, statement);
      for (const read of reads.filter(({ table }) => table === 'webhook_deliveries')) rows += read.rows;
    }
    return rows;
  }

  it('another account is found, and what is due to it taken, by a look at each endpoint', async () => {
    const rows = await rowsRead(async () => {
      const { due } = await findDueAccounts(flow.db, '', 5000);
      assert.deepEqual(due.sort(), [crowd.accountId, calm.accountId].sort());
      const { deliveries, left } = await takeDueDeliveries(flow.db, calm.accountId, ROOM);
      assert.deepEqual([deliveries.length, left], [1, 'nothing']);
    });
    assert.ok(rows > 0 && rows <= 50, `${rows} rows`);
  });

  it('what is due to it is taken in turn over its endpoints, by a look at each', async () => {
    const rows = await rowsRead(async () => {
      const { deliveries, left } = await takeDueDeliveries(flow.db, crowd.accountId, ROOM);
      assert.deepEqual([deliveries.length, left], [ROOM.slots, 'now']);
      assert.equal(new Set(deliveries.map(({ endpoint }) => endpoint.id)).size, 10);
    });
    assert.ok(rows > 0 && rows <= 50, `${rows} rows`);
  });

  it('an endpoint whose places are taken hides no other', async () => {
    const [first = '', second = ''] = crowd.endpointIds;
    await flow.db.raw(
      `UPDATE webhook_deliveries SET leased_until = ?, due_at = ? WHERE id IN (
         SELECT id FROM webhook_deliveries WHERE endpoint_id <> ? AND due_at <= ? AND endpoint_id IN (
           SELECT id FROM webhook_endpoints WHERE account_id = ?))`,
      [later(), later(), second, now(), crowd.accountId],
    );
    const { deliveries } = await takeDueDeliveries(flow.db, crowd.accountId, ROOM);
    assert.ok(deliveries.length > 0);
    for (const { endpoint } of deliveries) assert.equal(endpoint.id, second);
    assert.notEqual(first, second);
  });

  it('what came to be due to an endpoint while it was deleted is dropped by the sweep', async () => {
    const [deleted = ''] = calm.endpointIds;
    await calm.tell(1, { quietly: true });
    await flow.db('webhookEndpoints').where({ id: deleted }).update({ deletedAt: now() });
    const { due } = await findDueAccounts(flow.db, '', 5000);
    assert.ok(!due.includes(calm.accountId));
    const rows = await flow.deliveries(deleted);
    assert.ok(rows.length > 0 && rows.every(({ status, dueAt }) => status === 'dropped' && dueAt === null));
  });
});

function later(): Date {
  return new Date(now().getTime() + 41_000);
}
