import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import supertest from 'supertest';
import { startWeb } from '../../../api/process/start-web.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { buildMerchant, buildPaidSession } from '../../../lab/world/shop/factories.js';
import { loadConfig } from '../../../shared/config/config.js';
import { openDatabase } from '../../../shared/db/knex.js';
import { createLogger } from '../../../shared/process/logger.js';
import { testServices } from '../../support/suite.js';

describe('a web process that is told to stop while a statement hangs', () => {
  it('cuts its request, leaves the connection open until the process ends, and closes within its time', async () => {
    const { databaseUrl, redisUrl } = testServices();
    const settings = {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      FACILITATOR_URL: 'http://127.0.0.1:1',
      PORT: '0',
    };
    const config = loadConfig(settings, 'web');
    const logged: string[] = [];
    const log = new Writable({
      write(chunk: Buffer, _encoding, done) {
        logged.push(chunk.toString('utf8'));
        done();
      },
    });
    const db = openDatabase(config.database);
    const { accountId, testKey } = await buildMerchant(db);
    // A list with a payment takes one statement: no second one runs once the pool is being closed.
    await buildPaidSession(db, accountId);
    const web = await startWeb(config, createLogger('info', 'test', log), { drainMs: 50, closeMs: 50 });
    const holder = await db.transaction();
    try {
      await holder.raw('LOCK TABLE payments IN ACCESS EXCLUSIVE MODE');
      const request = supertest(`http://127.0.0.1:${web.port}`)
        .get('/v1/payments')
        .auth(testKey, '')
        .then(
          ({ status }) => String(status),
          () => 'cut',
        );
      await eventually(async () => {
        const { rows } = await db.raw(
          `SELECT 1 FROM pg_locks WHERE relation = 'payments'::regclass AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        );
        assert.equal(rows.length, 1);
      });
      // The statement still waits for its lock when this resolves.
      await web.close();
      assert.equal(await request, 'cut');
      assert.match(logged.join(''), /"level":"warn".*"event":"process\.left_open"/);
    } finally {
      await holder.rollback();
      await db.destroy();
    }
  });
});
