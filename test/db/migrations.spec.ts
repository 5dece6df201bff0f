import assert from 'node:assert/strict';
import { type Config, loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { createLogger } from '../../shared/process/logger.js';
import { migrate, migrateDown } from '../../shared/schema/migrate.js';
import { migrationConfig, pendingMigrations } from '../../shared/schema/migration-files.js';
import { createDatabase } from '../support/suite.js';

describe('migrations', () => {
  const logger = createLogger('silent', 'test');
  let config: Config;
  let db: Knex;
  before(async () => {
    config = loadConfig({ DATABASE_URL: await createDatabase('migrations') }, 'migrate');
    db = openDatabase(config.database);
  });
  after(() => db.destroy());

  async function tables(): Promise<string[]> {
    const rows = await db('pg_tables').select('tablename').where('schemaname', 'public').orderBy('tablename');
    return rows.map(({ tablename }) => tablename);
  }

  it('are all pending in an empty database, which a check leaves empty', async () => {
    assert.ok((await pendingMigrations(db)).length >= 9);
    assert.deepEqual(await tables(), []);
  });

  it('run up, all the way down, and up again, one at a time when several processes migrate', async () => {
    await migrate(config, logger);
    const before = await tables();
    assert.ok(before.includes('payables'));
    assert.deepEqual(await pendingMigrations(db), []);
    await db.migrate.rollback(migrationConfig, true);
    assert.deepEqual(await tables(), ['migrations', 'migrations_lock']);
    assert.ok((await pendingMigrations(db)).length >= 9);
    await Promise.all([migrate(config, logger), migrate(config, logger), migrate(config, logger)]);
    assert.deepEqual(await pendingMigrations(db), []);
    assert.deepEqual(await tables(), before);
  });

  it('run down by one, the newest', async () => {
    const [newest = assert.fail()] = await db('migrations').orderBy('id', 'desc').pluck('name');
    assert.equal(await migrateDown(config, logger), newest);
    assert.deepEqual(await pendingMigrations(db), [newest]);
    await migrate(config, logger);
    assert.deepEqual(await pendingMigrations(db), []);
  });

  it('ignore the lock of a killed migration', async () => {
    await db('migrations_lock').update({ is_locked: 1 });
    await migrate(config, logger);
    assert.deepEqual(await pendingMigrations(db), []);
  });

  it('of a newer release keep older code ready, and older code may migrate', async () => {
    const newer = { name: '99991231000100-newer', batch: 99, migration_time: new Date() };
    await db('migrations').insert(newer);
    assert.deepEqual(await pendingMigrations(db), []);
    await migrate(config, logger);
    await db('migrations').where({ name: newer.name }).delete();
  });

  it('give every list and sweep an index', async () => {
    const rows = await db('pg_indexes').select('indexdef').where('schemaname', 'public');
    const definitions = rows.map(({ indexdef }) => indexdef).join('\n');
    for (const columns of [
      'payables USING btree (account_id, livemode, id)',
      'payables USING btree (account_id, livemode, status, id)',
      'payables USING btree (expires_at)',
      'payables USING btree (refunded_payment_id, id)',
      'payments USING btree (account_id, livemode, id)',
      'payments USING btree (stage, due_at)',
      'webhook_endpoints USING btree (account_id, livemode, id)',
    ]) {
      assert.ok(definitions.includes(columns), columns);
    }
  });
});
