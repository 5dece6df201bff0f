import assert from 'node:assert/strict';
import { runNode } from '../../lab/world/processes/processes.js';
import { type Config, loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { createLogger } from '../../shared/process/logger.js';
import { migrate, migrateDown } from '../../shared/schema/migrate.js';
import { pendingMigrations } from '../../shared/schema/migration-files.js';
import { createDatabase, createMigratedDatabase } from '../support/suite.js';

/** Earlier releases could create partitioned tables in an empty database with `--by-month`. */
describe('a database that was migrated --by-month', () => {
  const logger = createLogger('silent', 'test');

  for (const table of ['payables', 'payments']) {
    describe(`with ${table} partitioned, and a migration pending`, () => {
      let config: Config;
      let db: Knex;
      before(async () => {
        config = loadConfig({ DATABASE_URL: await createMigratedDatabase(`by_month_${table}`) }, 'migrate');
        db = openDatabase(config.database);
        await migrateDown(config, logger);
        await db.raw(`
          CREATE TABLE ${table}_by_month (LIKE ${table}) PARTITION BY RANGE (id);
          DROP TABLE ${table} CASCADE;
          ALTER TABLE ${table}_by_month RENAME TO ${table}`);
        // A starting migration resets this lock before anything else.
        await db('migrations_lock').update({ is_locked: 1 });
        assert.equal((await pendingMigrations(db)).length, 1);
      });
      after(() => db.destroy());

      const stateOf = async (): Promise<unknown> => ({
        columns: (
          await db.raw(`SELECT attrelid::regclass::text AS relation, attname, atttypid FROM pg_attribute
            WHERE attnum > 0 AND attrelid >= 16384 ORDER BY attrelid, attnum`)
        ).rows,
        migrations: await db('migrations').orderBy('id').pluck('name'),
        locks: await db('migrations_lock').select(),
      });

      for (const [command, run] of Object.entries({ migrate, 'migrate --down': migrateDown })) {
        it(`${command} refuses it with instructions and changes nothing`, async () => {
          const before = await stateOf();
          await assert.rejects(run(config, logger), {
            name: 'ConfigError',
            message:
              /--by-month, .* nothing was changed: .* \(docs\/operate\.md, "Leaving tables by month"\)\.$/,
          });
          assert.deepEqual(await stateOf(), before);
        });
      }
    });
  }

  it('can no longer be created: the option is refused before any query', async () => {
    const config = loadConfig({ DATABASE_URL: await createDatabase('by_month_option') }, 'migrate');
    const environment = { DATABASE_URL: config.database.url };
    const { code, stderr } = await runNode(['dist/shared/migrate.js', '--by-month'], { environment });
    assert.equal(code, 1);
    assert.equal(
      stderr,
      'npm run migrate does not take "--by-month". Usage: npm run migrate, or npm run migrate -- --down for one step back.\n',
    );
    const db = openDatabase(config.database);
    const tables = db('pg_tables').where('schemaname', 'public');
    assert.deepEqual(await tables.finally(() => db.destroy()), []);
  });
});
