import assert from 'node:assert/strict';
import { buildMerchant, buildSession } from '../../lab/world/shop/factories.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { migrationConfig } from '../../shared/schema/migration-files.js';
import { createMigratedDatabase } from '../support/suite.js';

const FIRST = '20261128000200-payable-id';

/** An event as code of the release before inserts it, and as today's code does. */
const INSERTS = {
  before: `INSERT INTO events (id, account_id, livemode, type, checkout_session_id, object)
    VALUES (?, ?, false, 'checkout.session.expired', ?, '{}')`,
  today: `INSERT INTO events (id, account_id, livemode, type, payable_id, object)
    VALUES (?, ?, false, 'checkout.session.expired', ?, '{}')`,
};

describe('the column payable_id', () => {
  let db: Knex;
  before(async () => {
    const config = loadConfig({ DATABASE_URL: await createMigratedDatabase('payable_id') }, 'migrate');
    db = openDatabase(config.database);
  });
  after(() => db.destroy());

  const idsOf = async (event: string): Promise<unknown> => {
    const { rows } = await db.raw('SELECT checkout_session_id, payable_id FROM events WHERE id = ?', [event]);
    return rows[0];
  };

  it('has the id in rows from before it, and in rows that code of the release before inserts afterwards', async () => {
    const { accountId } = await buildMerchant(db);
    const { id } = await buildSession(db, accountId);
    const both = { checkout_session_id: id, payable_id: id };
    const names = await db('migrations').where('name', '>=', FIRST).orderBy('name', 'desc').pluck('name');
    assert.ok(names.includes(FIRST));
    for (const name of names) await db.migrate.down({ ...migrationConfig, name });
    await db.raw(INSERTS.before, ['evt_earlier', accountId, id]);
    for (const name of names.toReversed()) await db.migrate.up({ ...migrationConfig, name });
    assert.deepEqual(await idsOf('evt_earlier'), both);

    await db.raw(INSERTS.before, ['evt_before', accountId, id]);
    assert.deepEqual(await idsOf('evt_before'), both);
    await db.raw(INSERTS.today, ['evt_today', accountId, id]);
    assert.deepEqual(await idsOf('evt_today'), both);
  });

  it('names a payable that exists', async () => {
    const { accountId } = await buildMerchant(db);
    const none = db.raw(INSERTS.today, ['evt_none', accountId, 'cs_test_none']);
    await assert.rejects(none, /events_payable/);
  });
});
