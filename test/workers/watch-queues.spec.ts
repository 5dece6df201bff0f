import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { JOB_NAMES, type JobName } from '../../shared/jobs/jobs.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { findUnserved } from '../../shared/upkeep/served-queues.js';
import { watchQueues } from '../../workers/process/watch-queues.js';
import { type LoggerWithLines, loggerWithLines } from '../support/log-lines.js';
import { createMigratedDatabase } from '../support/suite.js';

const OTHERS = JOB_NAMES.filter((name) => name !== 'settle-payment');

describe('a queue that no worker serves', () => {
  let db: Knex;
  const watches: Closable[] = [];
  before(async () => {
    const DATABASE_URL = await createMigratedDatabase('watched_queues');
    db = openDatabase(loadConfig({ DATABASE_URL }, 'cli').database);
  });
  after(() => db.destroy());
  afterEach(async () => {
    for (const watch of watches.splice(0)) await watch.close();
  });

  interface Line {
    event: string;
    queue: string;
  }

  function start(worker: string, workerQueues: readonly JobName[], graceMs = 0): LoggerWithLines<Line> {
    const logged = loggerWithLines<Line>();
    const watched = { db, logger: logged.logger, config: { workerQueues }, metrics: { worker } };
    watches.push(watchQueues(watched, { everyMs: 20, graceMs }));
    return logged;
  }

  it('is logged once by the others, until a worker serves it', async () => {
    const { lines } = start('one', OTHERS);
    await eventually(() => assert.equal(lines.length, 1));
    start('two', ['settle-payment']);
    await eventually(() => assert.equal(lines.length, 2));
    assert.deepEqual(
      lines.map(({ event, queue }) => [event, queue]),
      [
        ['queue.unserved', 'settle-payment'],
        ['queue.served', 'settle-payment'],
      ],
    );
  });

  it('is not logged while other workers may be starting, nor when this worker serves all', async () => {
    const { lines: early } = start('one', OTHERS, 3_600_000);
    const { lines: all } = start('two', JOB_NAMES);
    await eventually(async () =>
      assert.deepEqual(await findUnserved(db, { worker: 'three', queues: [] }), []),
    );
    assert.deepEqual([early, all], [[], []]);
  });

  it('is known at once after its only worker has stopped', async () => {
    start('one', JOB_NAMES);
    const self = { worker: 'two', queues: OTHERS };
    await eventually(async () => assert.deepEqual(await findUnserved(db, self), []));
    for (const watch of watches.splice(0)) await watch.close();
    assert.deepEqual(await findUnserved(db, self), ['settle-payment']);
  });
});
