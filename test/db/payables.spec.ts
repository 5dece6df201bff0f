import assert from 'node:assert/strict';
import pg from 'pg';
import { buildMerchant, buildRefund, buildSession, type Merchant } from '../../lab/world/shop/factories.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { migrationConfig } from '../../shared/schema/migration-files.js';
import { beforeMigration } from '../support/before-migration.js';
import { createMigratedDatabase } from '../support/suite.js';

const REFUNDS = '20261126000100-refunds';

/** Statements of the previous release, prepared under names, so that its connections keep their plans through the migration. */
const OLDER = {
  read: 'SELECT id, status FROM checkout_sessions WHERE id = $1',
  list: 'SELECT id FROM checkout_sessions WHERE account_id = $1 AND livemode = false ORDER BY id DESC LIMIT 11',
  take: `WITH due AS (
      SELECT id FROM checkout_sessions WHERE id = $1 AND status = 'open' FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE checkout_sessions session SET failure_code = 'tried' FROM due WHERE session.id = due.id RETURNING session.*`,
  expire: `UPDATE checkout_sessions SET status = 'expired' WHERE account_id = $1 AND status = 'open' RETURNING id`,
  insert: `INSERT INTO checkout_sessions (id, account_id, livemode, status, amount_total_cents, line_items, metadata,
      expires_at) VALUES ('cs_test_older', $1, false, 'open', 450, '[]', '{}', now()) RETURNING id`,
};

describe('sessions and refunds in one table', () => {
  let db: Knex;
  let older: pg.Client;
  let shop: Merchant;
  before(async () => {
    const url = await createMigratedDatabase('payables');
    db = openDatabase(loadConfig({ DATABASE_URL: url }, 'migrate').database);
    older = new pg.Client({ connectionString: url });
    await older.connect();
    shop = await buildMerchant(db);
  });
  after(async () => {
    await older.end();
    await db.destroy();
  });

  const ask = async (name: keyof typeof OLDER, value: string): Promise<{ id: string; status?: string }[]> =>
    (await older.query({ name, text: OLDER[name], values: [value] })).rows;

  it('keep code of the previous release working through the migration', async () => {
    const { accountId } = shop;
    const session = await buildSession(db, accountId);
    await beforeMigration(db, REFUNDS, async () => {
      assert.equal((await db('pg_views').where({ viewname: 'checkout_sessions' })).length, 0);
      for (const name of ['read', 'take'] as const) assert.equal((await ask(name, session.id)).length, 1);
      assert.equal((await ask('list', accountId)).length, 1);
    });
    const refund = await buildRefund(db, accountId);
    for (const name of ['read', 'take'] as const) {
      assert.equal((await ask(name, session.id))[0]?.id, session.id, name);
      assert.deepEqual(await ask(name, refund.id), [], name);
    }
    assert.deepEqual(await ask('insert', accountId), [{ id: 'cs_test_older' }]);
    const listed = (await ask('list', accountId)).map(({ id }) => id);
    assert.ok(listed.length === 3 && listed.includes('cs_test_older'));
    for (const id of listed) assert.match(id, /^cs_test_/);
    const expired = (await ask('expire', accountId)).map(({ id }) => id);
    assert.deepEqual(expired.sort(), [session.id, 'cs_test_older'].sort());
    const { status } = await db('refunds').where({ id: refund.id }).first('status');
    assert.equal(status, 'open');
    await db.migrate.latest(migrationConfig);
  });

  it('are each read through their own view', async () => {
    const kinds = async (view: string): Promise<string[]> => {
      const rows = await db(view).select('id');
      return [...new Set(rows.map(({ id }: { id: string }) => id.slice(0, 3)))];
    };
    assert.deepEqual(await kinds('checkout_sessions'), ['cs_']);
    assert.deepEqual(await kinds('refunds'), ['re_']);
  });

  it('refuse the rollback once a refund exists, which it would lose', async () => {
    const { id } = await buildRefund(db, shop.accountId);
    await assert.rejects(db.migrate.down({ ...migrationConfig, name: REFUNDS }), /There are refunds/);
    assert.ok((await db('refunds').where({ id }).first('refunded_payment_id')) !== undefined);
  });
});
