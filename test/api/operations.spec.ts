import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import request from 'supertest';
import { openWebMetrics } from '../../api/metrics/web-metrics.js';
import { findFreePort } from '../../lab/world/http/listen.js';
import { openMetricsPage } from '../../shared/metrics/metrics.js';
import { Payment } from '../../shared/payments/model.js';
import { createLogger } from '../../shared/process/logger.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { openCheckout } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';

const TOKEN = 'scrape-me';
const PASSWORD = 'open sesame';

describe('operator endpoints', () => {
  const checkout = forAllTests(() =>
    openCheckout({ environment: { METRICS_TOKEN: TOKEN, ADMIN_PASSWORD: PASSWORD } }),
  );
  let app: TestApp;
  before(async () => {
    app = checkout.app;
  });

  describe('/metrics', () => {
    const read = async (): Promise<string> => {
      const res = await request(app.server).get('/metrics').set('Authorization', `Bearer ${TOKEN}`);
      assert.equal(res.status, 200);
      assert.match(res.get('Content-Type') ?? '', /^text\/plain; version=0\.0\.4/);
      return res.text;
    };
    const value = (text: string, series: string): number =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.slice(series.length + 1),
      );

    for (const [name, headers] of Object.entries({
      'no token': {},
      'another token': { Authorization: 'Bearer scrape-mf' },
      'Basic instead of Bearer': { Authorization: `Basic ${TOKEN}` },
    })) {
      it(`refuses ${name}`, async () => {
        const res = await request(app.server).get('/metrics').set(headers);
        assert.equal(res.status, 401);
        assert.equal(res.get('WWW-Authenticate'), 'Bearer');
        assert.doesNotMatch(res.text, /checkout_/);
      });
    }

    it('counts requests by route and status, and responses of links', async () => {
      const before = await read();
      const { id } = await checkout.buildSession();
      assert.equal((await checkout.pay(id)).status, 200);
      await request(app.server).get('/v1/payments');
      const text = await read();
      const grown = (series: string): number => value(text, series) - (value(before, series) || 0);
      assert.equal(grown('checkout_link_answers_total{outcome="paid"}'), 1);
      assert.equal(grown('checkout_link_answers_total{outcome="payment_required"}'), 1);
      assert.equal(grown('checkout_http_request_seconds_count{method="GET",route="/c/:id",status="200"}'), 1);
      assert.doesNotMatch(text, new RegExp(id), 'the id of a link grants access to it');
    });

    it('starts counters at zero, since an increase from nothing is not seen', async () => {
      const fresh = await openTestApp({ METRICS_TOKEN: TOKEN });
      try {
        const { text } = await request(fresh.server).get('/metrics').set('Authorization', `Bearer ${TOKEN}`);
        for (const outcome of ['paid', 'payment_failed', 'payment_service_unavailable'])
          assert.equal(value(text, `checkout_link_answers_total{outcome="${outcome}"}`), 0, outcome);
        for (const labels of [
          'method="GET",route="/c/:id",status="503"',
          'method="POST",route="/v1/checkout/sessions",status="500"',
          'method="GET",route="/v1/checkout/sessions/:id/line_items",status="500"',
        ])
          assert.equal(value(text, `checkout_http_request_seconds_count{${labels}}`), 0, labels);
        assert.match(text, /^checkout_build_info\{version="\d+\.\d+\.\d+[^"]*"\} 1$/m);
      } finally {
        await fresh.close();
      }
    });

    it('counts warnings and errors by event, starting at zero where alerts exist', async () => {
      const text = await read();
      assert.equal(value(text, 'checkout_log_lines_total{event="payment.surplus"}'), 0);
      const loud = createLogger('warn', 'test', new Writable({ write: (_chunk, _encoding, done) => done() }));
      const { db, queues } = app;
      const page = openWebMetrics({ db, queues, logger: loud, facilitators: { states: () => [] } }, []);
      loud.warn({ event: 'payment.surplus' });
      loud.child({ session: 'cs_1' }).error({ event: 'payment.surplus' });
      loud.info({ event: 'payment.gone' });
      loud.error('no event');
      const counted = await page.read();
      assert.equal(value(counted, 'checkout_log_lines_total{event="payment.surplus"}'), 2);
      assert.equal(value(counted, 'checkout_log_lines_total{event="payment.gone"}'), 0);
    });

    it('measures the event loop and the garbage collector once, however many pages a process has', () => {
      const { db, queues } = app;
      const facilitators = { states: () => [] };
      const sources = { db, queues, facilitators, logger: createLogger('silent', 'test') };
      const [first, second] = [openMetricsPage(sources), openMetricsPage(sources)];
      for (const name of ['nodejs_eventloop_lag_seconds', 'nodejs_gc_duration_seconds']) {
        const metric = first.registry.getSingleMetric(name);
        assert.ok(metric !== undefined, name);
        assert.equal(metric, second.registry.getSingleMetric(name), name);
      }
    });

    it('shows whether the process is ready', async () => {
      assert.equal(value(await read(), 'checkout_ready'), 1);
      app.lifecycle.isStopping = true;
      try {
        assert.equal(value(await read(), 'checkout_ready'), 0);
      } finally {
        app.lifecycle.isStopping = false;
      }
    });

    it('shows waiting work, the pool, the queues and the event loop', async () => {
      const text = await read();
      const processing = await Payment.query(app.db).where('status', 'processing').resultSize();
      assert.equal(value(text, 'checkout_payments_processing'), processing);
      assert.ok(value(text, 'checkout_deliveries_due') >= 0);
      assert.equal(value(text, 'checkout_store_readable{store="postgres"}'), 1);
      assert.equal(value(text, 'checkout_store_readable{store="queue"}'), 1);
      assert.equal(value(text, 'checkout_queue_jobs{queue="settle-payment",state="wait"}'), 0);
      assert.ok(value(text, 'checkout_database_pool_connections{state="free"}') >= 1);
      assert.match(text, /^nodejs_eventloop_lag_p99_seconds /m);
    });

    it('is served in time while all database connections are in use', async () => {
      const busy = await openTestApp({ METRICS_TOKEN: TOKEN, DATABASE_POOL_SIZE: '2' });
      const taken = await Promise.all([busy.db.transaction(), busy.db.transaction()]);
      try {
        const test = request(busy.server).get('/metrics').set('Authorization', `Bearer ${TOKEN}`);
        const { status, text } = await test.timeout(9000);
        assert.equal(status, 200);
        assert.equal(value(text, 'checkout_store_readable{store="postgres"}'), 0);
        assert.equal(value(text, 'checkout_database_pool_connections{state="used"}'), 2);
        assert.equal(value(text, 'checkout_store_readable{store="queue"}'), 1);
      } finally {
        await Promise.all(taken.map((transaction) => transaction.rollback()));
        await busy.close();
      }
    });

    it('is not served without METRICS_TOKEN', async () => {
      const other = await openTestApp();
      try {
        const res = await request(other.server).get('/metrics').set('Authorization', `Bearer ${TOKEN}`);
        assert.equal(res.status, 404);
        assert.equal((await request(other.server).get('/admin/queues')).status, 404);
      } finally {
        await other.close();
      }
    });

    it('is served by a worker on its own port', async () => {
      const port = await findFreePort();
      const worker = await checkout.startWorker({ WORKER_METRICS_PORT: String(port) });
      try {
        const base = request(`http://127.0.0.1:${port}`);
        assert.equal((await base.get('/healthz')).status, 200);
        assert.equal((await base.get('/metrics')).status, 401);
        assert.equal((await base.get('/')).status, 404);
        const { text } = await base.get('/metrics').set('Authorization', `Bearer ${TOKEN}`);
        assert.match(
          text,
          /^checkout_settle_call_seconds_count\{worker="[^"]+",facilitator="127[^"]+",verdict="unknown"\} 0$/m,
        );
        assert.match(text, /^checkout_delivery_try_seconds_count\{worker="[^"]+",outcome="refused"\} 0$/m);
        assert.match(
          text,
          /^checkout_chain_looks_total\{network="eip155:8453",finding="unreadable",worker="[^"]+"\} 0$/m,
        );
        assert.match(text, /^checkout_store_readable\{store="postgres"\} 1$/m);
      } finally {
        await worker.close();
      }
    });
  });

  describe('/admin/queues', () => {
    const open = (path: string, user = 'admin', password = PASSWORD) =>
      request(app.server).get(path).auth(user, password);

    it('requires the password', async () => {
      const res = await request(app.server).get('/admin/queues');
      assert.equal(res.status, 401);
      assert.match(res.get('WWW-Authenticate') ?? '', /^Basic /);
      assert.equal((await open('/admin/queues', 'admin', 'open sesamf')).status, 401);
      assert.equal((await open('/admin/queues', 'root')).status, 401);
      assert.equal((await request(app.server).get('/admin/queues/api/queues')).status, 401);
    });

    it('shows every queue', async () => {
      const page = await open('/admin/queues');
      assert.equal(page.status, 200);
      assert.match(page.text, /<html/);
      const { body } = await open('/admin/queues/api/queues');
      assert.deepEqual(body.queues.map(({ name }: { name: string }) => name).sort(), [
        'confirm-payment',
        'deliver-webhook',
        'expire-sessions',
        'settle-payment',
      ]);
    });

    it('loads nothing from other origins and refuses framing', async () => {
      const policy = (await open('/admin/queues')).get('Content-Security-Policy') ?? '';
      assert.match(policy, /default-src 'none'/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /https?:|script-src[^;]*unsafe/);
    });
  });

  it('/healthz names the running version', async () => {
    const { body } = await request(app.server).get('/healthz');
    assert.equal(body.status, 'ok');
    assert.match(body.version, /^\d+\.\d+\.\d+/);
  });

  it('/readyz fails once the process has been told to stop', async () => {
    assert.equal((await request(app.server).get('/readyz')).status, 200);
    app.lifecycle.isStopping = true;
    try {
      const res = await request(app.server).get('/readyz');
      assert.equal(res.status, 503);
      assert.equal(res.body.status, 'stopping');
      assert.deepEqual(
        app.lifecycle.readinessChecks.balancers().map(({ timesTold }) => timesTold),
        [1],
      );
      assert.equal((await request(app.server).get('/healthz')).status, 200);
    } finally {
      app.lifecycle.isStopping = false;
    }
  });
});
