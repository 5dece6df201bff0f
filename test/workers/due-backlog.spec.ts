import assert from 'node:assert/strict';
import { now } from '../../shared/process/clock.js';
import { findDueAccounts } from '../../shared/webhooks/find-due.js';
import { sweepEndpoints } from '../../shared/webhooks/pending-deliveries.js';
import { takeDueDeliveries } from '../../shared/webhooks/take-due.js';
import { openBusyAccount } from '../support/busy-account.js';
import { forAllTests } from '../support/hooks.js';
import { captureStatements, explain } from '../support/query-plans.js';
import { ALLOWANCE, openWebhookFlow } from '../support/webhook-flow.js';

const BACKLOG = 10_000;

describe('with 10,000 deliveries due to one account', () => {
  const flow = forAllTests(() => openWebhookFlow('due_backlog', { worker: false }));
  const busy = forAllTests(() => openBusyAccount(flow.app, { hosts: 1, endpointsPerHost: 10 }));
  const quiet = forAllTests(() => openBusyAccount(flow.app, { hosts: 1, endpointsPerHost: 1 }));
  before(async () => {
    await busy.sendEvents(1, { leftToSweep: true });
    await flow.db.raw(
      `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, due_at)
       SELECT 'wd_' || n || endpoint_id, event_id, endpoint_id, 'pending', due_at
       FROM webhook_deliveries, generate_series(1, CAST(:each AS int)) n`,
      { each: BACKLOG / 10 },
    );
    await quiet.sendEvents(1, { leftToSweep: true });
    await flow.db.raw('VACUUM ANALYZE webhook_deliveries');
  });

  /** Counts the rows of deliveries that reading and locking statements read. */
  async function rowsRead(act: () => Promise<unknown>): Promise<number> {
    let rows = 0;
    for (const statement of await captureStatements(flow.db, act)) {
      if (/\bUPDATE webhook_deliveries\b/.test(statement.sql)) continue;
      const reads = await explain(flow.db, statement);
      for (const read of reads.filter(({ table }) => table === 'webhook_deliveries')) rows += read.rows;
    }
    return rows;
  }

  it('another account is found, and its delivery taken, by reading a row for each endpoint', async () => {
    const rows = await rowsRead(async () => {
      const { due } = await findDueAccounts(flow.db, '', 5000);
      assert.deepEqual(due.sort(), [busy.accountId, quiet.accountId].sort());
      const { deliveries, left } = await takeDueDeliveries(flow.db, quiet.accountId, ALLOWANCE);
      assert.deepEqual([deliveries.length, left], [1, 'nothing']);
    });
    assert.ok(rows > 0 && rows <= 50, `${rows} rows`);
  });

  it('an account is late that has been due for 15 s, unless a delivery is in flight there', async () => {
    const deliveries = flow.db('webhookDeliveries').where({ endpointId: quiet.endpointIds[0] });
    // The busy account is late, too, where the machine took 15 s to build it.
    const isLate = async (): Promise<boolean> =>
      (await findDueAccounts(flow.db, '', 5000)).late.includes(quiet.accountId);
    await deliveries.clone().update({ leasedUntil: null, dueAt: now() });
    assert.equal(await isLate(), false);
    const dueAt = new Date(now().getTime() - 16_000);
    await deliveries.clone().update({ dueAt });
    const rows = await rowsRead(async () => assert.equal(await isLate(), true));
    assert.ok(rows > 0 && rows <= 50, `${rows} rows`);
    await deliveries.clone().update({ leasedUntil: later() });
    assert.equal(await isLate(), false);
  });

  it('its deliveries are taken in turn over its endpoints, by reading a row for each', async () => {
    const rows = await rowsRead(async () => {
      const { deliveries, left } = await takeDueDeliveries(flow.db, busy.accountId, ALLOWANCE);
      assert.deepEqual([deliveries.length, left], [ALLOWANCE.slots, 'now']);
      assert.equal(new Set(deliveries.map(({ endpoint }) => endpoint.id)).size, 10);
    });
    assert.ok(rows > 0 && rows <= 50, `${rows} rows`);
  });

  it('an endpoint without free slots does not hide the others', async () => {
    const [first = '', second = ''] = busy.endpointIds;
    await flow.db.raw(
      `UPDATE webhook_deliveries SET leased_until = ?, due_at = ? WHERE id IN (
         SELECT id FROM webhook_deliveries WHERE endpoint_id <> ? AND due_at <= ? AND endpoint_id IN (
           SELECT id FROM webhook_endpoints WHERE account_id = ?))`,
      [later(), later(), second, now(), busy.accountId],
    );
    const { deliveries } = await takeDueDeliveries(flow.db, busy.accountId, ALLOWANCE);
    assert.ok(deliveries.length > 0);
    for (const { endpoint } of deliveries) assert.equal(endpoint.id, second);
    assert.notEqual(first, second);
  });

  it('the sweep drops a delivery that became due while its endpoint was being deleted', async () => {
    const [deleted = ''] = quiet.endpointIds;
    await quiet.sendEvents(1, { leftToSweep: true });
    await flow.db('webhookEndpoints').where({ id: deleted }).update({ deletedAt: now() });
    const { due } = await findDueAccounts(flow.db, '', 5000);
    assert.ok(!due.includes(quiet.accountId));
    await sweepEndpoints(flow.db);
    const rows = await flow.deliveries(deleted);
    assert.ok(rows.length > 0 && rows.every(({ status, dueAt }) => status === 'dropped' && dueAt === null));
  });
});

function later(): Date {
  return new Date(now().getTime() + 41_000);
}
