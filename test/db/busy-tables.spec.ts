import assert from 'node:assert/strict';
import pg from 'pg';
import { eventually } from '../../lab/world/processes/eventually.js';
import { createIndexConcurrently, dropIndexConcurrently } from '../../migrations/concurrent-index.js';
import { type Config, loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { migrate } from '../../shared/schema/migrate.js';
import { type Migration, type MigrationFile, migratorConfig } from '../../shared/schema/migration-files.js';
import { loggerWithLines } from '../support/log-lines.js';
import { createDatabase } from '../support/suite.js';

/** How long a migration waits for a table's lock per try. Statements queued behind it wait as long. */
const IN_ONE_GO_MS = 500;
const TIMES = { logEveryMs: 100, lockDeadlineMs: 60_000 };

describe('a migration of tables that are in use', () => {
  let config: Config;
  let db: Knex;
  let client: pg.Client;
  const { logger, lines } = loggerWithLines();
  const files: MigrationFile[] = [];

  before(async () => {
    // The service's and the role's statement timeouts do not apply to migrations.
    const url = await createDatabase('busy_tables');
    const settings = { REDIS_URL: 'redis://unused', DATABASE_QUERY_TIMEOUT_MS: '100' };
    config = loadConfig({ DATABASE_URL: url, ...settings }, 'migrate');
    db = openDatabase({ ...config.database, queryTimeoutMs: 30_000 });
    await db.raw('CREATE TABLE busy (id int)');
    client = new pg.Client({ connectionString: url });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await db.destroy();
  });
  beforeEach(() => {
    lines.length = 0;
  });

  const logged = (event: string) => lines.filter((line) => line.event === event);

  type Up = (knex: Knex) => Promise<unknown>;
  const fileOf = (name: string, up: Up, parts: Partial<Migration> = {}): MigrationFile => ({
    name,
    load: async () => ({ up, down: async () => undefined, ...parts }),
  });

  function run(name: string, up: Up, parts: Partial<Migration> = {}): Promise<void> {
    if (!files.some((file) => file.name === name)) files.push(fileOf(name, up, parts));
    return migrate(config, logger, { migrations: migratorConfig(async () => [...files]), times: TIMES });
  }

  it('may take longer than any statement of the service', async () => {
    await run('01-long', (knex) => knex.raw('SELECT pg_sleep(0.3)'));
    const events = lines.map(({ event }) => event).filter((event) => event !== 'migration.progress');
    assert.deepEqual(events, ['migration.started', 'migration.finished', 'database.migrated']);
    assert.ok(logged('migration.progress').length > 0);
  });

  it('may take longer than any transaction of its role, and keeps its turn', async () => {
    const ofDatabase = (change: string) => db.raw(`ALTER DATABASE ${client.database} ${change}`);
    await ofDatabase('SET transaction_timeout = 500');
    try {
      let held: unknown;
      await run('01-longer', async (knex) => {
        await knex.raw('SELECT pg_sleep(1)');
        const locks = await client.query(`SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
          WHERE locktype = 'advisory' AND granted AND datname = current_database()`);
        held = locks.rowCount;
      });
      assert.equal(held, 1);
    } finally {
      await ofDatabase('RESET transaction_timeout');
    }
  });

  it('lets other statements through while it waits for a lock', async () => {
    await client.query('BEGIN; SELECT FROM busy');
    const migrated = run('02-column', (knex) => knex.raw('ALTER TABLE busy ADD COLUMN word text'));
    await eventually(() => assert.ok(logged('migration.waits').length > 0));
    for (let i = 0; i < 3; i += 1) {
      await db.transaction(async (trx) => {
        // Longer than one try, and shorter than the block without retries.
        await trx.raw(`SET LOCAL lock_timeout = '${20 * IN_ONE_GO_MS}ms'`);
        await trx.raw('INSERT INTO busy VALUES (1)');
      });
    }
    const [line] = logged('migration.waits');
    assert.match(JSON.stringify(line?.in_the_way), /"state":"idle in transaction"/);
    await client.query('COMMIT');
    await migrated;
    assert.equal((await db('busy').columnInfo()).word?.type, 'text');
  });

  it('gives up on a lock after its time limit, names the holder, and changes nothing', async () => {
    await client.query('BEGIN; SELECT FROM busy');
    const late: Up = (knex) =>
      knex.raw('CREATE TABLE made_first (id int)').then(() => knex.raw('DROP TABLE busy'));
    const hasty = {
      migrations: migratorConfig(async () => [...files, fileOf('03-late', late)]),
      times: { ...TIMES, lockDeadlineMs: 0 },
    };
    await assert.rejects(migrate(config, logger, hasty), /03-late did not get its lock.*idle in transaction/);
    await client.query('COMMIT');
    assert.equal(await db.schema.hasTable('made_first'), false);
  });

  const INDEX = { name: 'busy_id', unique: true, on: 'busy (id)' };
  const makeIndex = (name: string): Promise<void> =>
    run(name, (knex) => createIndexConcurrently(knex, INDEX), { config: { transaction: false } });

  it('creates an index while others write', async () => {
    await db.raw('TRUNCATE busy');
    await client.query('BEGIN; INSERT INTO busy VALUES (1)');
    const made = makeIndex('04-index');
    await eventually(() => assert.ok(logged('migration.progress').some(({ index }) => index !== undefined)));
    await db.raw('INSERT INTO busy VALUES (2)');
    await client.query('COMMIT');
    await made;
    await assert.rejects(db.raw('INSERT INTO busy VALUES (2)'), /busy_id/);
    await dropIndexConcurrently(db, INDEX.name);
  });

  it('recreates an index whose creation was interrupted', async () => {
    await db.raw('INSERT INTO busy VALUES (2)');
    await assert.rejects(makeIndex('05-index'), /could not create unique index/);
    await db.raw('TRUNCATE busy');
    await makeIndex('05-index');
    await db.raw('INSERT INTO busy VALUES (2)');
    await assert.rejects(db.raw('INSERT INTO busy VALUES (2)'), /busy_id/);
    await createIndexConcurrently(db, INDEX);
  });
});
