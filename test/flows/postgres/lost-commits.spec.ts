import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { startWeb, type WebProcess } from '../../../api/process/start-web.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { type Pair, preparePairs } from '../../../lab/world/processes/standby.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { buildMerchant, buildSession } from '../../../lab/world/shop/factories.js';
import { loadConfig } from '../../../shared/config/config.js';
import type { Closable } from '../../../shared/process/shutdown.js';
import { newId } from '../../../shared/values/ids.js';
import { startWorker } from '../../../workers/process/start-worker.js';
import { forAllTests } from '../../support/hooks.js';
import { type LoggerWithLines, loggerWithLines } from '../../support/log-lines.js';
import { testServices } from '../../support/suite.js';

interface Line {
  event: string;
  from?: string;
  to?: string;
  session?: string;
}

interface Running extends LoggerWithLines<Line> {
  process: Closable;
  /** The lines about commits. */
  losses(): Line[];
}

interface RunningWeb extends Running {
  process: WebProcess;
}

const LOSSES = ['database.lost_commits', 'database.failed_over'];

describe('a Postgres that forgot', () => {
  const started: Closable[] = [];
  const pairs = forAllTests(preparePairs);
  let pair: Pair;
  let proxy: TcpProxy;
  let redis: Redis;

  const opened: Redis[] = [];

  before(() => {
    redis = new Redis(testServices().redisUrl);
    opened.push(redis);
  });
  after(() => {
    for (const one of opened) one.disconnect();
  });
  beforeEach(async () => {
    pair = await pairs.start();
    proxy = await TcpProxy.start(pair.primary.url);
    await redis.flushall();
  });
  afterEach(async () => {
    for (const one of started.splice(0)) await one.close();
    await proxy.refuse();
    await pair.close();
  });

  const settings = (redisUrl: string): Record<string, string> => ({
    DATABASE_URL: proxy.url,
    REDIS_URL: redisUrl,
    FACILITATOR_URL: 'http://127.0.0.1:1',
    BASE_URL: 'https://pay.example',
    PORT: '0',
  });

  function running<P extends Closable>(logged: LoggerWithLines<Line>, process: P): Running & { process: P } {
    started.push(process);
    return { ...logged, process, losses: () => logged.lines.filter(({ event }) => LOSSES.includes(event)) };
  }

  async function web(redisUrl = testServices().redisUrl): Promise<RunningWeb> {
    const logged = loggerWithLines<Line>('info');
    return running(logged, await startWeb(loadConfig(settings(redisUrl), 'web'), logged.logger));
  }

  async function worker(redisUrl = testServices().redisUrl): Promise<Running> {
    const logged = loggerWithLines<Line>('info');
    return running(logged, await startWorker(loadConfig(settings(redisUrl), 'worker'), logged.logger));
  }

  /** Waits until a process of this Redis has read how far the primary has written. */
  async function remembered(memory = redis): Promise<void> {
    const { rows } = await pair.primary.db.raw(`SELECT pg_current_wal_flush_lsn() - '0/0' AS flushed`);
    await eventually(async () => {
      const [key = assert.fail('no process has written its position')] = await memory.keys('*:position');
      assert.ok(Number(await memory.hget(key, 'flushed')) >= Number(rows[0].flushed));
    });
  }

  async function sell(): Promise<string> {
    const { accountId } = await buildMerchant(pair.primary.db);
    return (await buildSession(pair.primary.db, accountId)).id;
  }

  /** The standby takes over. Returns a session that it does not have. */
  async function failOverWithout(memories = [redis]): Promise<string> {
    await pair.cutStream();
    const lost = await sell();
    for (const memory of memories) await remembered(memory);
    await pair.promote();
    proxy.leadTo(pair.standby.url);
    return lost;
  }

  async function visit({ process }: RunningWeb, id: string): Promise<Response> {
    return await fetch(`http://127.0.0.1:${process.port}/c/${id}`);
  }

  const unknownLinks = ({ lines }: Running): (string | undefined)[] =>
    lines.filter(({ event }) => event === 'link.unknown_after_lost_commits').map(({ session }) => session);

  it('is noticed by each running process: a forgotten link is a 404 with one line in the log, which names the window', async () => {
    // A single Redis would tell only that one of the two has read the position.
    const ofWorker = new URL('/1', testServices().redisUrl).href;
    const memories = [redis, new Redis(ofWorker)];
    opened.push(...memories.slice(1));
    const serving = await web();
    const all = [serving, await worker(ofWorker)];
    assert.equal((await visit(serving, newId('cs_test_'))).status, 404);
    await sell();
    for (const memory of memories) await remembered(memory);
    const beforeLoss = new Date();
    const lost = await failOverWithout(memories);
    // The loss is known before the first request reads it.
    for (let n = 0; n < 2; n += 1) {
      const answer = await eventually(async () => {
        const response = await visit(serving, lost);
        assert.equal(response.status, 404);
        return response;
      });
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    }
    await visit(serving, 'no-id');
    assert.deepEqual(unknownLinks(serving), [lost]);
    for (const one of all) {
      const [line = assert.fail()] = await eventually(() => {
        const certain = one.losses().filter(({ event }) => event === 'database.lost_commits');
        assert.equal(certain.length, 1);
        return certain;
      });
      const [from, to] = [new Date(line.from ?? assert.fail()), new Date(line.to ?? assert.fail())];
      assert.ok(from <= new Date(beforeLoss.getTime() + 5000), 'the window begins before the loss');
      assert.ok(from.getTime() > beforeLoss.getTime() - 30_000 && to > beforeLoss && to <= new Date());
    }
  });

  it('is noticed by a process that starts afterwards, by what Redis remembers, whatever the standby knows', async () => {
    await web();
    await pair.cutStream();
    await sell();
    await remembered();
    for (const one of started.splice(0)) await one.close();
    const [key = assert.fail()] = await redis.keys('*:position');
    await redis.copy(key, key, 'DB', 1);
    await pair.promote();
    proxy.leadTo(pair.standby.url);
    // Postgres has long written more than it has lost. Its first checkpoint tells where the new timeline began.
    await eventually(async () => {
      const { rows } = await pair.standby.db.raw('SELECT timeline_id FROM pg_control_checkpoint()');
      assert.deepEqual(rows, [{ timeline_id: 2 }]);
    });
    await pair.standby.db.raw('CREATE TABLE much AS SELECT generate_series(1, 10000)');
    // Null: the standby had not got the timeline before the stream was cut.
    for (const [memory, timeline] of [1, null].entries()) {
      await pair.standby.db.raw('UPDATE installation SET timeline = ?, doubted_at = NULL', [timeline]);
      const late = await worker(new URL(`/${memory}`, testServices().redisUrl).href);
      // The worker may know at first only that another server took over.
      await eventually(() => assert.equal(late.losses().at(-1)?.event, 'database.lost_commits'));
      for (const one of started.splice(0)) await one.close();
    }
  });

  it('is suspected by a process that starts afterwards without Redis, by the row of the database', async () => {
    const [serving] = [await web('')];
    await eventually(async () => {
      const { rows } = await pair.primary.db.raw('SELECT timeline FROM installation');
      assert.deepEqual(rows, [{ timeline: 1 }]);
    });
    await pair.caughtUp();
    await serving.process.close();
    started.length = 0;
    await pair.promote();
    proxy.leadTo(pair.standby.url);
    const late = await web('');
    await eventually(() =>
      assert.deepEqual(
        late.losses().map(({ event }) => event),
        ['database.failed_over'],
      ),
    );
    // The next one has it from the row, and repeats no line.
    const later = await web('');
    const unknown = newId('cs_test_');
    await eventually(async () => {
      await visit(later, unknown);
      assert.deepEqual(unknownLinks(later), [unknown]);
    });
    assert.deepEqual(later.losses(), []);
  });

  it('is not claimed after a clean switchover, a crash of the same server, or by a standby that lags', async () => {
    const all = [await web(), await worker()];
    await sell();
    await remembered();
    await pair.pauseReplay();
    const { rows } = await pair.primary.db.raw(
      `SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'`,
    );
    process.kill(rows[0].pid, 'SIGKILL');
    await eventually(async () => void (await sell()));
    await remembered();
    await pair.resumeReplay();
    assert.deepEqual(
      all.flatMap((one) => one.losses()),
      [],
    );

    await pair.caughtUp();
    await pair.stopPrimary();
    await pair.promote();
    proxy.leadTo(pair.standby.url);
    for (const one of all)
      await eventually(() =>
        assert.deepEqual(
          one.losses().map(({ event }) => event),
          ['database.failed_over'],
        ),
      );
  });
});
