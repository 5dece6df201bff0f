import assert from 'node:assert/strict';
import request from 'supertest';
import { killProcesses, runNode } from '../../lab/world/processes/processes.js';
import { buildMerchant, buildSession } from '../../lab/world/shop/factories.js';
import { type Config, loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { clockCorrectionMs } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';
import { migrate, migrateDown } from '../../shared/schema/migrate.js';
import { noteDoubt, readInstallation } from '../../shared/upkeep/installation.js';
import { openTestApp } from '../support/app.js';
import { runCommand } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { answerOf } from '../support/link-answers.js';
import { createDatabase, createMigratedDatabase, testServices } from '../support/suite.js';

const logger = createLogger('silent', 'test');

const DEFAULTS = [
  { name: 'default_transaction_isolation', is: 'repeatable read', needed: 'read committed' },
  { name: 'DateStyle', is: 'SQL, DMY', needed: 'ISO' },
] as const;

async function withConnection(
  database: Config['database'],
  act: (db: Knex) => Promise<unknown>,
): Promise<void> {
  const db = openDatabase(database);
  await act(db).finally(() => db.destroy());
}

describe('a database whose sessions have defaults that the service cannot work with', () => {
  let admin: Knex;
  before(() => {
    admin = openDatabase(loadConfig({ DATABASE_URL: testServices().databaseUrl }, 'migrate').database);
  });
  after(async () => {
    await admin.destroy();
    await killProcesses();
  });

  const configOf = (databaseUrl: string): Config => loadConfig({ DATABASE_URL: databaseUrl }, 'migrate');
  const nameOf = (databaseUrl: string): string => new URL(databaseUrl).pathname.slice(1);

  async function setDefault(databaseUrl: string, name: string, value: string): Promise<void> {
    await admin.raw(`ALTER DATABASE ${nameOf(databaseUrl)} SET ${name} = '${value}'`);
  }

  const alter = (databaseUrl: string): string =>
    `ALTER ROLE ${new URL(databaseUrl).username} IN DATABASE ${nameOf(databaseUrl)}`;
  const sentenceOf = (databaseUrl: string, { name, is, needed }: (typeof DEFAULTS)[number]): string =>
    `DATABASE_URL must give sessions whose ${name} is '${needed}', and it is '${is}': run ${alter(databaseUrl)} SET ${name} = '${needed}'; and start again.`;
  const schemaSentenceOf = (databaseUrl: string): string =>
    `DATABASE_URL must give sessions whose search_path has a schema that exists and that the role may use, and it is 'nowhere': run ${alter(databaseUrl)} SET search_path = public; or GRANT USAGE ON SCHEMA, and start again.`;

  for (const wrong of DEFAULTS) {
    const { name, is, needed } = wrong;
    describe(`${name} = '${is}'`, () => {
      let databaseUrl: string;
      before(async () => {
        databaseUrl = await createDatabase(`defaults_${name.toLowerCase()}`);
        await setDefault(databaseUrl, name, is);
      });

      for (const [command, run] of Object.entries({ migrate, 'migrate --down': migrateDown }))
        it(`is refused by ${command}, which changes nothing`, async () => {
          const refusal = { name: 'ConfigError', message: sentenceOf(databaseUrl, wrong) };
          await assert.rejects(run(configOf(databaseUrl), logger), refusal);
          await setDefault(databaseUrl, name, needed);
          try {
            await withConnection(configOf(databaseUrl).database, async (db) =>
              assert.deepEqual(await db('pg_tables').where('schemaname', 'public'), []),
            );
          } finally {
            await setDefault(databaseUrl, name, is);
          }
        });

      it('makes a running web process unready, and its requests are answered 503', async () => {
        const url = await createMigratedDatabase(`late_${name.toLowerCase()}`);
        const app = await openTestApp({ DATABASE_URL: url, DATABASE_POOL_SIZE: '1' });
        try {
          const { accountId } = await buildMerchant(app.db);
          const { id } = await buildSession(app.db, accountId);
          await setDefault(url, name, is);
          await closeSessions(app.db, url);
          const ready = await request(app.server).get('/readyz');
          assert.deepEqual([ready.status, ready.body.database], [503, 'misconfigured']);
          const answer = await request(app.server).get(`/c/${id}`);
          assert.equal(answerOf(answer), '503 payment_service_unavailable');
        } finally {
          await app.close();
        }
      });
    });
  }

  it('is refused by migrate when its encoding lacks most characters', async () => {
    const databaseUrl = await createDatabase('defaults_encoding');
    await admin.raw('DROP DATABASE ??', [nameOf(databaseUrl)]);
    const create = `TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'`;
    await admin.raw(`CREATE DATABASE ?? ${create}`, [nameOf(databaseUrl)]);
    await assert.rejects(migrate(configOf(databaseUrl), logger), {
      message: /a database whose encoding is UTF8, and it is LATIN1: create one with /,
    });
  });

  it('is refused by migrate when its search_path has no schema that the role can use', async () => {
    const databaseUrl = await createDatabase('defaults_schema');
    await setDefault(databaseUrl, 'search_path', 'nowhere');
    const message = schemaSentenceOf(databaseUrl);
    await assert.rejects(migrate(configOf(databaseUrl), logger), { message });
  });

  describe('in every one of them', () => {
    let databaseUrl: string;
    let sentences: string;
    before(async () => {
      databaseUrl = await createDatabase('defaults_all');
      for (const { name, is } of DEFAULTS) await setDefault(databaseUrl, name, is);
      await setDefault(databaseUrl, 'search_path', 'nowhere');
      const ofDefaults = DEFAULTS.map((wrong) => sentenceOf(databaseUrl, wrong));
      sentences = [...ofDefaults, schemaSentenceOf(databaseUrl)].join('\n');
    });

    useCliDatabase(() => databaseUrl);

    it('is refused by every process at its start, with all the SQL that mends it', async () => {
      const environment = {
        DATABASE_URL: databaseUrl,
        REDIS_URL: testServices().redisUrl,
        FACILITATOR_URL: 'http://127.0.0.1:1',
        LOG_LEVEL: 'error',
        PORT: '0',
      };
      for (const entry of ['api/server', 'workers/main', 'shared/migrate']) {
        const { code, stderr } = await runNode([`dist/${entry}.js`], { environment });
        assert.deepEqual([code, stderr], [1, `${sentences}\n`], entry);
      }
    });

    it('is refused by a command, in one line', async () => {
      const { status, stderr } = await runCommand('list');
      const [, ...lines] = stderr.split('\n');
      assert.deepEqual([status, lines], [1, [sentences.replaceAll('\n', ' '), '']]);
    });

    it('is migrated after that SQL', async () => {
      for (const [, mend = ''] of sentences.matchAll(/run (.*);/g)) await admin.raw(mend);
      await migrate(configOf(databaseUrl), logger);
    });
  });

  async function closeSessions(db: Knex, databaseUrl: string): Promise<void> {
    await admin.raw('SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = ?', [
      nameOf(databaseUrl),
    ]);
    await assert.rejects(db.raw('SELECT 1'));
  }
});

describe('a database whose sessions round floating-point numbers', () => {
  it('is asked for its clock, and since when commits may be lost, in exact numbers', async () => {
    const url = await createMigratedDatabase('rounded');
    const { database } = loadConfig({ DATABASE_URL: url }, 'migrate');
    await withConnection(database, async (admin) => {
      await admin.raw(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET extra_float_digits = -15`);
      await noteDoubt(admin, 1);
      await admin.raw(`UPDATE installation SET doubted_at = doubted_at - interval '1600 s'`);
    });
    await withConnection(database, async (db) => {
      const { doubtedMsAgo } = (await readInstallation(db)) ?? {};
      assert.ok(Math.abs((doubtedMsAgo ?? 0) - 1_600_000) < 60_000, `${doubtedMsAgo} ms ago`);
      assert.ok(Math.abs(clockCorrectionMs()) < 60_000, `the clock is ${clockCorrectionMs()} ms off`);
    });
  });
});

describe('a transaction', () => {
  it('is at read committed, also in a session whose default has changed', async () => {
    const { database } = loadConfig({ DATABASE_URL: testServices().databaseUrl }, 'migrate');
    await withConnection({ ...database, poolSize: 1 }, async (db) => {
      await db.raw(`SET default_transaction_isolation = 'repeatable read'`);
      await db.transaction(async (trx) => {
        const { rows } = await trx.raw('SHOW transaction_isolation');
        assert.deepEqual(rows, [{ transaction_isolation: 'read committed' }]);
      });
    });
  });
});
