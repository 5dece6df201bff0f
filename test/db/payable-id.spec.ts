import assert from 'node:assert/strict';
import pg from 'pg';
import { buildMerchant, buildSession } from '../../lab/world/shop/factories.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { beforeMigration } from '../support/before-migration.js';
import { createMigratedDatabase } from '../support/suite.js';

const FIRST = '20261128000200-payable-id';
const WITHOUT_THE_EARLIER = '20261201000300-no-checkout-session-id';

/** An event as code of 0.1.0 inserted it, and as today's code does. */
const INSERTS = {
  earlier: `INSERT INTO events (id, account_id, livemode, type, checkout_session_id, object)
    VALUES (?, ?, false, 'checkout.session.expired', ?, '{}')`,
  today: `INSERT INTO events (id, account_id, livemode, type, payable_id, object)
    VALUES (?, ?, false, 'checkout.session.expired', ?, '{}')`,
};

describe('the column payable_id', () => {
  let url: string;
  let db: Knex;
  before(async () => {
    url = await createMigratedDatabase('payable_id');
    db = openDatabase(loadConfig({ DATABASE_URL: url }, 'migrate').database);
  });
  after(() => db.destroy());

  it('has the id in rows from before it, and in rows that stay when it is taken back', async () => {
    const { accountId } = await buildMerchant(db);
    const { id } = await buildSession(db, accountId);
    await db.raw(INSERTS.today, ['evt_today', accountId, id]);
    await beforeMigration(db, FIRST, () => db.raw(INSERTS.earlier, ['evt_earlier', accountId, id]));
    assert.deepEqual(await db('events').orderBy('id').select('id', 'payableId'), [
      { id: 'evt_earlier', payableId: id },
      { id: 'evt_today', payableId: id },
    ]);
  });

  it('is alone in rows of statements that 0.2.0 prepared while the earlier column was there', async () => {
    const { accountId } = await buildMerchant(db);
    const { id } = await buildSession(db, accountId);
    const earlier = new pg.Client({ connectionString: url });
    await earlier.connect();
    const insert = (event: string) =>
      earlier.query({
        name: 'insert',
        text: `INSERT INTO events (id, account_id, livemode, type, payable_id, object)
          VALUES ($1, $2, false, 'checkout.session.expired', $3, '{}') RETURNING payable_id`,
        values: [event, accountId, id],
      });
    const uses = 'SELECT payable_id FROM payment_uses WHERE payload_key = $1';
    const findUses = () => earlier.query({ name: 'uses', text: uses, values: ['none'] });
    await beforeMigration(db, WITHOUT_THE_EARLIER, async () => {
      await insert('evt_prepared');
      await findUses();
    });
    assert.deepEqual((await insert('evt_after')).rows, [{ payable_id: id }]);
    assert.deepEqual((await findUses()).rows, []);
    await earlier.end();
  });

  it('names a payable that exists', async () => {
    const { accountId } = await buildMerchant(db);
    const none = db.raw(INSERTS.today, ['evt_none', accountId, 'cs_test_none']);
    await assert.rejects(none, /events_payable/);
  });
});
