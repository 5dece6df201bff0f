import assert from 'node:assert/strict';
import { buildMerchant, buildSession } from '../../lab/world/shop/factories.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { migrationConfig } from '../../shared/schema/migration-files.js';
import { createMigratedDatabase } from '../support/suite.js';

const FIRST = '20261128000200-payable-id';

/** An event as code of 0.1.0 inserted it, and as today's code does. */
const INSERTS = {
  earlier: `INSERT INTO events (id, account_id, livemode, type, checkout_session_id, object)
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

  it('has the id in rows from before it, and in rows that stay when it is taken back', async () => {
    const { accountId } = await buildMerchant(db);
    const { id } = await buildSession(db, accountId);
    await db.raw(INSERTS.today, ['evt_today', accountId, id]);
    const names = await db('migrations').where('name', '>=', FIRST).orderBy('name', 'desc').pluck('name');
    assert.ok(names.includes(FIRST));
    for (const name of names) await db.migrate.down({ ...migrationConfig, name });
    await db.raw(INSERTS.earlier, ['evt_earlier', accountId, id]);
    for (const name of names.toReversed()) await db.migrate.up({ ...migrationConfig, name });
    assert.deepEqual(await db('events').orderBy('id').select('id', 'payableId'), [
      { id: 'evt_earlier', payableId: id },
      { id: 'evt_today', payableId: id },
    ]);
  });

  it('names a payable that exists', async () => {
    const { accountId } = await buildMerchant(db);
    const none = db.raw(INSERTS.today, ['evt_none', accountId, 'cs_test_none']);
    await assert.rejects(none, /events_payable/);
  });
});
