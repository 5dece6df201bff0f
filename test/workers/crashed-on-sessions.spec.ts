import assert from 'node:assert/strict';
import { PausePoint } from '../../lab/world/processes/pause-points.js';
import {
  killProcesses,
  type ServiceProcess,
  startWorkerProcess,
} from '../../lab/world/processes/processes.js';
import { buildSession } from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { presentCheckoutSession } from '../../shared/checkout-sessions/present.js';
import { loadConfig } from '../../shared/config/config.js';
import type { Knex } from '../../shared/db/knex.js';
import { advanceClock, resetClock } from '../../shared/process/clock.js';
import { leaveToSweep } from '../../shared/queues/delivery-notifier.js';
import { fieldsBy, TEXT_FIELDS } from '../../shared/session-fields/fields.js';
import { expireOneQuarantined, expireOverdueSessions } from '../../shared/settlement/expire-overdue.js';
import { countCrashes } from '../../shared/upkeep/work-in-flight.js';
import { expireSessions } from '../../workers/jobs/expire-sessions.js';
import { openExpiring, overdueBy } from '../support/expiring.js';
import { forAllTests } from '../support/hooks.js';
import { openManualWorker } from '../support/money-flow.js';

const DEPS = { notifyDeliveries: leaveToSweep };

describe('sessions on which workers crash', () => {
  const expiring = forAllTests(() => openExpiring('crashed_on_sessions'));
  let db: Knex;
  before(() => {
    db = expiring.db;
  });
  afterEach(async () => {
    resetClock();
    await killProcesses();
    await PausePoint.removeAll();
  });

  const environment = (): Record<string, string> => ({
    DATABASE_URL: expiring.databaseUrl,
    FACILITATOR_URL: 'http://127.0.0.1:1',
    WORKER_QUEUES: 'expire-sessions',
  });
  const start = (): Promise<ServiceProcess> => startWorkerProcess(environment());
  const manualWorker = () => {
    const { deps, log } = openManualWorker(loadConfig(environment(), 'worker'), db);
    const close = async (): Promise<void> => {
      deps.chains.close();
      await deps.facilitators.close();
    };
    return { deps, log, close };
  };
  /** Stands for the time after which an unlocked row of `work_in_hand` belongs to a crashed worker. */
  const letTimePass = (): Promise<unknown> =>
    db.raw(`UPDATE work_in_hand SET taken_at = taken_at - interval '1 minute'`);
  const statusOf = async (id: string): Promise<string> =>
    (await CheckoutSession.query(db).findById(id).throwIfNotFound()).status;
  const crashesOf = async (id: string): Promise<number | undefined> =>
    (await db('crashedWork').where({ id }).first('deaths'))?.deaths;

  it('are taken alone after two crashes, the crashing one last and named in the log', async () => {
    const others = await expiring.buildOverdue(8);
    const crashing = await buildSession(db, expiring.shop.accountId, overdueBy(60_000));
    const kills = await PausePoint.put(expiring.databaseUrl, {
      table: 'payables',
      on: 'UPDATE',
      when: `NEW.id = '${crashing.id}'`,
      moment: 'statement',
    });
    for (let crash = 1; crash <= 3; crash += 1) {
      const worker = await start();
      await kills.reached();
      if (crash === 3) {
        await expiring.untilExpired(others);
        const logged = worker.lines().filter(({ event }) => event === 'work.crashed_on');
        assert.equal(logged.length, 1);
        const { work, deaths, ids, level } = logged[0] ?? {};
        assert.deepEqual([work, deaths, level], ['expire-sessions', 2, 'error']);
        // Each of two simultaneous batches may have had some of them; then the other batch went on.
        assert.ok((ids as string[]).includes(crashing.id));
        assert.equal(new Set([crashing.id, ...others, ...(ids as string[])]).size, 1 + others.length);
      }
      await worker.kill();
      await kills.terminate();
      await letTimePass();
    }
    const { deps, close } = manualWorker();
    await expireSessions(deps);
    assert.equal(await crashesOf(crashing.id), 3);
    assert.equal(await statusOf(crashing.id), 'open', 'the session was expired before it was due');
    await kills.release();
    await db('crashedWork').update({ dueAt: new Date() });
    await expireSessions(deps);
    await expiring.untilExpired([crashing.id, ...others]);
    assert.equal(await crashesOf(crashing.id), undefined);
    await close();
  });

  it('wait longer after each crash, and their counts are deleted when they succeed', async () => {
    const { id } = await buildSession(db, expiring.shop.accountId, overdueBy(1));
    const waits: number[] = [];
    for (let crashes = 1; crashes <= 5; crashes += 1) {
      await db('workInHand').insert({ work: 'expire-sessions', ids: [id], takenAt: new Date(0) });
      await countCrashes(db);
      const [row] = await db('crashedWork').where({ id });
      waits.push((row.dueAt - row.diedAt) / 60_000);
    }
    assert.deepEqual(waits, [0, 0, 1, 2, 4]);
    assert.equal(await expireOverdueSessions(db, 10, DEPS), 0, 'it was taken together with others');
    assert.equal(await expireOneQuarantined(db, DEPS), undefined, 'it was taken before its time');
    await db('crashedWork').update({ dueAt: new Date() });
    assert.equal(await expireOneQuarantined(db, DEPS), 1);
    assert.equal(await crashesOf(id), undefined);
  });

  it('are not counted as crashed while a worker holds their lock, however long', async () => {
    const [id = ''] = await expiring.buildOverdue(1);
    const held = await PausePoint.put(expiring.databaseUrl, {
      table: 'payables',
      on: 'UPDATE',
      when: `NEW.id = '${id}'`,
      moment: 'statement',
    });
    const first = expireOverdueSessions(db, 10, DEPS);
    await held.reached();
    advanceClock(60_000);
    assert.deepEqual(await countCrashes(db), []);
    assert.equal(await crashesOf(id), undefined);
    assert.equal(await expireOverdueSessions(db, 10, DEPS), 0, 'another worker took it');
    resetClock();
    await held.release();
    assert.equal(await first, 1);
    await expiring.untilExpired([id]);
  });

  it('keep their count while another transaction holds their lock, and are not retried in a loop', async () => {
    const { id } = await buildSession(db, expiring.shop.accountId, overdueBy(1));
    await db('crashedWork').insert({
      work: 'expire-sessions',
      id,
      deaths: 2,
      diedAt: new Date(0),
      dueAt: new Date(0),
    });
    const other = await db.transaction();
    await other.raw('SELECT FROM checkout_sessions WHERE id = ? FOR UPDATE', [id]);
    const { deps, close } = manualWorker();
    await expireSessions(deps);
    assert.equal(await crashesOf(id), 2);
    await other.commit();
    advanceClock(2000);
    await expireSessions(deps);
    await expiring.untilExpired([id]);
    assert.equal(await crashesOf(id), undefined);
    await close();
  });

  it('lose their count when they have ended otherwise', async () => {
    const { id } = await buildSession(db, expiring.shop.accountId, { ...overdueBy(1), status: 'complete' });
    const row = { work: 'expire-sessions', id, deaths: 2, diedAt: new Date(0), dueAt: new Date(0) };
    await db('crashedWork').insert(row);
    assert.equal(await expireOneQuarantined(db, DEPS), 0);
    assert.equal(await crashesOf(id), undefined);
  });

  it('are taken alone as well when their batch fails twice in Postgres, as after a timeout', async () => {
    const ids = await expiring.buildOverdue(40);
    await db.raw(`
      CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF (SELECT count(*) FROM moved) > 2 THEN RAISE 'it takes too long'; END IF; RETURN NULL; END $$`);
    await db.raw(`
      CREATE TRIGGER refuse_many AFTER UPDATE ON payables REFERENCING NEW TABLE AS moved
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()`);
    const { deps, log, close } = manualWorker();
    for (let second = 0; second < 20; second += 6) {
      advanceClock(6000);
      await expireSessions(deps);
    }
    await db.raw('DROP FUNCTION refuse_many CASCADE');
    await expiring.untilExpired(ids);
    const events = log.map(({ event }) => event);
    assert.deepEqual(
      [...new Set(events)],
      ['sessions.not_expired', 'work.crashed_on'],
      'a failed batch stopped the others',
    );
    await close();
  });

  it('have events that equal their presentation byte for byte', async () => {
    const odd = 'a"b\\c/\b\f\n\r\t\u0001\u001f\u007f\u2028é漢😀</script>';
    const sessions = await Promise.all([
      buildSession(db, expiring.shop.accountId, {
        ...overdueBy(1234),
        ...fieldsBy('property', TEXT_FIELDS, () => odd),
        metadata: { b: odd, 7: '', [odd]: 'x', ['__proto__']: 'y' },
        successUrl: 'https://shop.example/?a=1&b="',
        cancelUrl: 'https://shop.example/c',
        customerEmail: 'a@b.example',
        amountTotalCents: 99_999_999_999,
        livemode: true,
      }),
      buildSession(db, expiring.shop.accountId, { ...overdueBy(1), amountTotalCents: 0 }),
    ]);
    while ((await expireOverdueSessions(db, 10, DEPS)) > 0);
    for (const { id } of sessions) {
      const session = await CheckoutSession.query(db).findById(id).throwIfNotFound();
      const { rows } = await db.raw('SELECT object::text FROM events WHERE payable_id = ?', [id]);
      const shown = presentCheckoutSession(session, { baseUrl: 'https://pay.example', expand: [] });
      assert.equal(rows[0].object, JSON.stringify(shown));
    }
  });
});
