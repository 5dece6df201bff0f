import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { eventually } from '../../lab/world/processes/eventually.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Loss, openCommitMemory } from '../../shared/db/commit-memory.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import type { Breaker } from '../../shared/limits/breaker.js';
import { now, resetClock } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';
import { openOutsideMemory } from '../../shared/queues/outside-memory.js';
import { openInstallationWatch } from '../../shared/startup/watch-installation.js';
import { readInstallation } from '../../shared/upkeep/installation.js';
import { moveClockOf } from '../support/move-clock.js';
import { createMigratedDatabase, testServices } from '../support/suite.js';

const EARLIER = { server: '7', timeline: 1, flushed: 2000, beganBy: 0 };
const FOUND = { server: '7', timeline: 2, flushed: 3000, beganBy: 1000 };

const logger = createLogger('silent', 'test');

describe('the watch over what Postgres has', () => {
  let db: Knex;
  let redis: Redis;

  before(async () => {
    db = openDatabase(loadConfig({ DATABASE_URL: testServices().databaseUrl }, 'migrate').database);
    redis = new Redis(testServices().redisUrl);
    await redis.flushall();
  });
  after(async () => {
    await redis.flushall();
    redis.disconnect();
    await db.raw('UPDATE installation SET timeline = NULL, doubted_at = NULL');
    await db.destroy();
  });

  it('reads what Redis remembers before it writes, when Redis does not answer the first call', async () => {
    const { id } = (await readInstallation(db)) ?? assert.fail();
    const outside = openOutsideMemory(redis, { id, database: 'any', process: 'earlier' });
    await outside.writePosition(EARLIER, now(), 'gone_back');
    await db.raw('UPDATE installation SET timeline = NULL, doubted_at = NULL');
    const losses: Loss[] = [];
    const commits = openCommitMemory((loss) => losses.push(loss));
    commits.answer(commits.ask(), FOUND);
    let calls = 0;
    const breaker: Breaker = {
      run: async (call) => {
        calls += 1;
        if (calls === 1) throw new Error('Redis is not connected yet');
        return await call();
      },
      isOpen: () => false,
      close() {},
    };
    const watch = openInstallationWatch({ db, commits, redis, breaker, logger });
    watch.start();
    try {
      await eventually(async () => {
        commits.answer(commits.ask(), FOUND);
        assert.equal((await outside.readPosition())?.position.timeline, 2);
      });
    } finally {
      await watch.close();
    }
    assert.deepEqual([losses.length, losses[0]?.kind], [1, 'lost_commits']);
  });
});

describe('a loss of commits that the database remembers', () => {
  for (const [hoursAhead, isDoubted] of [
    [0, false],
    [24, true],
  ] as const)
    it(`of a day ago by a clock of Postgres that is ${hoursAhead} hours ahead: ${isDoubted ? 'is' : 'is not'} doubted`, async () => {
      const url = await createMigratedDatabase(`doubted_${hoursAhead}`);
      const { database } = loadConfig({ DATABASE_URL: url }, 'migrate');
      const admin = openDatabase(database, undefined, { readsClock: false });
      const interval = `${24 - hoursAhead} hours`;
      await admin.raw(`UPDATE installation SET doubted_at = clock_timestamp() - interval '${interval}'`);
      await admin.destroy();
      const setClock = await moveClockOf(url);
      await setClock(hoursAhead * 3600);
      const commits = openCommitMemory(() => assert.fail('no loss was seen'));
      const db = openDatabase(database);
      const watch = openInstallationWatch({ db, commits, redis: undefined, breaker: undefined, logger });
      let rounds = 0;
      db.on('query', () => (rounds += 1));
      watch.start();
      try {
        await eventually(() => assert.ok(rounds > 1));
        await watch.close();
        assert.equal(commits.mayHaveLost(), isDoubted);
      } finally {
        await watch.close();
        await db.destroy();
        // This process follows the clock of the next connection again.
        const right = openDatabase(
          loadConfig({ DATABASE_URL: testServices().databaseUrl }, 'migrate').database,
        );
        await right.raw('SELECT 1');
        await right.destroy();
        resetClock();
      }
    });
});
