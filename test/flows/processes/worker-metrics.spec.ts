import assert from 'node:assert/strict';
import request from 'supertest';
import { findFreePort } from '../../../lab/world/http/listen.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  killProcesses,
  type ServiceProcess,
  startWebProcess,
  startWorkerProcess,
  type WebServiceProcess,
} from '../../../lab/world/processes/processes.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { loadConfig } from '../../../shared/config/config.js';
import { type Knex, openDatabase } from '../../../shared/db/knex.js';
import { createLogger } from '../../../shared/process/logger.js';
import {
  readWorkerPages,
  removeOldWorkerPages,
  writeWorkerPage,
} from '../../../shared/upkeep/worker-pages.js';
import { publishMetrics } from '../../../workers/process/publish-metrics.js';
import { startWorker } from '../../../workers/process/start-worker.js';
import { openTestApp } from '../../support/app.js';
import { readSeries } from '../../support/promql.js';
import { createMigratedDatabase, testServices } from '../../support/suite.js';

const TOKEN = 'metrics-token-of-a-spec';

async function readPage(server: Parameters<typeof request>[0]): Promise<string> {
  // Prometheus' own timeout.
  const asking = request(server).get('/metrics').set('Authorization', `Bearer ${TOKEN}`).timeout(10_000);
  const { status, text } = await asking;
  assert.equal(status, 200);
  return text;
}

/** The processes whose memory a metrics page shows. */
function processesOn(page: string): string[] {
  const ofEach = readSeries(page).filter(({ metric }) => metric === 'process_resident_memory_bytes');
  return ofEach.map(({ labels }) => labels.worker ?? 'web').sort();
}

function isReadable(page: string, store: string): boolean {
  return page.includes(`\ncheckout_store_readable{store="${store}"} 1\n`);
}

describe('metrics of workers without a port', () => {
  let environment: Record<string, string>;
  let databaseUrl: string;
  let db: Knex;
  before(async () => {
    databaseUrl = await createMigratedDatabase('worker_metrics');
    db = openDatabase(loadConfig({ DATABASE_URL: databaseUrl }, 'migrate').database);
    environment = {
      DATABASE_URL: databaseUrl,
      FACILITATOR_URL: 'http://127.0.0.1:1',
      BASE_URL: 'https://pay.example',
      METRICS_TOKEN: TOKEN,
    };
  });
  after(() => db.destroy());

  describe('with Redis', () => {
    let redis: TcpProxy;
    let web: WebServiceProcess;
    let workers: ServiceProcess[];
    let names: string[];
    before(async () => {
      redis = await TcpProxy.start(testServices().redisUrl);
      const settings = { ...environment, REDIS_URL: redis.url };
      workers = await Promise.all([startWorkerProcess(settings), startWorkerProcess(settings)]);
      web = await startWebProcess(settings);
      names = workers.map((worker) =>
        String(worker.lines().find(({ event }) => event === 'worker.started')?.worker),
      );
    });
    after(async () => {
      await killProcesses();
      await redis.refuse();
    });

    const page = (): Promise<string> => readPage(`http://127.0.0.1:${web.port}`);

    it("are on the web process's page, by worker, without duplicates", async () => {
      assert.equal(new Set(names).size, 2);
      const text = await eventually(async () => {
        const read = await page();
        assert.deepEqual(processesOn(read), [...names, 'web'].sort());
        assert.ok(isReadable(read, 'postgres') && isReadable(read, 'queue'));
        return read;
      });
      const series = readSeries(text);
      for (const worker of names)
        assert.ok(
          series.some(
            ({ metric, labels }) => metric.startsWith('checkout_settle_call') && labels.worker === worker,
          ),
        );
      // Prometheus refuses a metric with two descriptions, and a duplicate series.
      for (const all of [
        [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name),
        series.map((one) => JSON.stringify(one)),
      ])
        assert.equal(new Set(all).size, all.length);
    });

    it('stay on the page while Redis hangs or refuses connections', async () => {
      for (const trouble of ['swallow', 'refuse'] as const) {
        await redis[trouble]();
        const text = await page();
        assert.deepEqual([isReadable(text, 'queue'), processesOn(text)], [false, [...names, 'web'].sort()]);
      }
      await redis.accept();
    });

    it('are off the page a minute after a worker was killed, and deleted after an hour', async () => {
      const [first, second] = workers;
      await Promise.all([first?.kill(), second?.kill()]);
      const age = (seconds: number): Promise<unknown> =>
        db('worker_pages').update({ written_at: db.raw(`now() - interval '1 second' * ?`, [seconds]) });
      await age(40);
      assert.deepEqual(processesOn(await page()), [...names, 'web'].sort());
      await age(61);
      assert.deepEqual(processesOn(await page()), ['web']);
      await removeOldWorkerPages(db);
      assert.equal((await db('worker_pages')).length, 2);
      await age(3601);
      await removeOldWorkerPages(db);
      assert.equal((await db('worker_pages')).length, 0);
    });
  });

  it('are on the page with the queue in Postgres, and those of a worker with a port are not', async () => {
    const web = await openTestApp({ ...environment, REDIS_URL: '' });
    const start = (settings: object) =>
      startWorker(loadConfig({ ...environment, ...settings }, 'worker'), createLogger('silent', 'test'));
    const workers = await Promise.all([
      start({ WORKER_QUEUES: 'expire-sessions,settle-payment' }),
      start({ WORKER_METRICS_PORT: String(await findFreePort()) }),
    ]);
    try {
      const page = await eventually(async () => {
        const read = await readPage(web.server);
        assert.equal(processesOn(read).length, 2);
        return read;
      });
      const serves = readSeries(page).filter(({ metric }) => metric === 'checkout_worker_serves');
      assert.deepEqual(
        serves.map(({ labels }) => labels.queue),
        ['settle-payment', 'expire-sessions'],
      );
      assert.equal((await db('worker_pages')).length, 1);
    } finally {
      await Promise.all(workers.map((worker) => worker.close()));
      await web.close();
      await db('worker_pages').delete();
    }
  });

  it('are left out while Postgres hangs, and the page is still answered', async () => {
    const proxy = await TcpProxy.start(databaseUrl);
    const web = await openTestApp({ METRICS_TOKEN: TOKEN, DATABASE_URL: proxy.url });
    try {
      await writeWorkerPage(db, 'w-1', '# HELP a A.\n# TYPE a counter\na{worker="w-1"} 1\n');
      assert.match(await readPage(web.server), /^a\{worker="w-1"\} 1$/m);
      // All connections have been opened by then, so that each request waits on one.
      await Promise.all(Array.from({ length: 6 }, () => web.db.raw('SELECT pg_sleep(0.2)')));
      const freeze = proxy.freeze();
      try {
        const text = await readPage(web.server);
        assert.doesNotMatch(text, /w-1/);
        assert.deepEqual([isReadable(text, 'postgres'), processesOn(text)], [false, ['web']]);
      } finally {
        freeze.thaw();
      }
    } finally {
      await web.close();
      await proxy.refuse();
      await db('worker_pages').delete();
    }
  });

  it('are written once more when a worker stops', async () => {
    let count = 1;
    const metrics = { worker: 'w-1', own: async () => `# HELP a A.\n# TYPE a counter\na ${count}\n` };
    const published = publishMetrics({ db, logger: createLogger('silent', 'test'), metrics });
    await eventually(async () => assert.match((await readWorkerPages(db)).join(), /^a 1$/m));
    count = 2;
    await published.close();
    assert.match((await readWorkerPages(db)).join(), /^a 2$/m);
    await db('worker_pages').delete();
  });
});
