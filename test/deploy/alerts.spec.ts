import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import request from 'supertest';
import { parse, stringify } from 'yaml';
import { eventually } from '../../lab/world/processes/eventually.js';
import { runProgram } from '../../lab/world/processes/supervisor.js';
import { loadConfig } from '../../shared/config/config.js';
import { createLogger } from '../../shared/process/logger.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { startWorker } from '../../workers/process/start-worker.js';
import { anchorsOf } from '../support/anchors.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { ROOT, read } from '../support/deploy-files.js';
import { missingSeries, readPromQl, readSeries, type Series } from '../support/promql.js';
import { testServices } from '../support/suite.js';

const FOLDER = path.join(ROOT, 'deploy', 'prometheus');
const TESTS = path.join(FOLDER, 'tests');
const TOKEN = 'metrics-token-of-a-spec';

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

interface TestFile {
  rule_files: string[];
  tests: { alert_rule_test: { alertname: string; exp_alerts: object[] }[] }[];
}

interface Panel {
  title: string;
  description?: string;
  targets?: { expr: string }[];
}

const { groups }: { groups: { rules: Rule[] }[] } = parse(read('deploy/prometheus/alerts.yml'));
const rules = groups.flatMap((group) => group.rules);
const testFiles = readdirSync(TESTS).map((name): TestFile => parse(read(`deploy/prometheus/tests/${name}`)));
const { panels }: { panels: Panel[] } = JSON.parse(read('deploy/grafana/checkout.json'));
const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
/** Variables that Grafana replaces. */
const asAsked = (expr: string): string => expr.replaceAll('$__rate_interval', '5m');

const promtool = (...args: string[]): Promise<string> => runProgram({ command: 'promtool', args });

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rules-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the alerts', () => {
  it('are valid Prometheus rules, with a valid example configuration', async () => {
    const checked = await promtool('check', 'rules', path.join(FOLDER, 'alerts.yml'));
    assert.match(checked, /SUCCESS: \d+ rules found/);
    await promtool('check', 'config', '--syntax-only', path.join(FOLDER, 'prometheus.yml'));
  });

  /** promtool evaluates every rule of a file at every minute of a test: here each test has the rules alone that it is about. */
  it('fire at their threshold and not below it', async () => {
    await inFolder(async (folder) => {
      const written = testFiles.flatMap(({ tests, ...file }, number) =>
        tests.map((test, index) => {
          assert.deepEqual(file.rule_files, ['../alerts.yml']);
          const named = new Set(test.alert_rule_test.map(({ alertname }) => alertname));
          const own = groups
            .map((group) => ({ ...group, rules: group.rules.filter(({ alert }) => named.has(alert)) }))
            .filter((group) => group.rules.length > 0);
          const name = path.join(folder, `${number}-${index}`);
          const alone = { ...file, rule_files: [`${name}-rules.yml`], tests: [test] };
          writeFileSync(`${name}-rules.yml`, stringify({ groups: own }));
          writeFileSync(`${name}.yml`, stringify(alone));
          return `${name}.yml`;
        }),
      );
      await promtool('test', 'rules', ...written);
    });
  });

  it('are each tested firing and not firing', () => {
    const tries = testFiles.flatMap(({ tests }) => tests.flatMap((test) => test.alert_rule_test));
    const tried = (fires: boolean): string[] =>
      tries.filter(({ exp_alerts }) => exp_alerts.length > 0 === fires).map(({ alertname }) => alertname);
    const names = new Set(rules.map(({ alert }) => alert));
    assert.deepEqual(new Set(tried(true)), names);
    assert.deepEqual(new Set(tried(false)), names);
    assert.equal(names.size, rules.length);
  });

  it('have a runbook line each, with the same link', () => {
    const [, runbook = ''] = read('docs/operate.md').split(/^## Runbook$/m);
    const [within = ''] = runbook.split(/^## /m);
    const [, table = ''] = within.split(/^### Alerts$/m);
    const named = [...(table.split(/^### /m)[0] ?? '').matchAll(/^\| `(\w+)` \| (\w+) \|/gm)];
    assert.deepEqual(
      named.map(([, alert, severity]) => `${alert}: ${severity}`).sort(),
      rules.map(({ alert, labels }) => `${alert}: ${labels.severity}`).sort(),
    );
    const anchors = anchorsOf(within);
    for (const { alert, annotations } of rules) {
      const [page, anchor = ''] = annotations.runbook.split('#');
      assert.equal(page, 'docs/operate.md');
      assert.ok(anchors.includes(anchor), `${alert}: ${anchor}`);
      assert.match(annotations.summary, /\.$/);
    }
  });
});

describe('the dashboard', () => {
  it('uses valid Prometheus expressions', async () => {
    await inFolder(async (folder) => {
      const records = expressions.map((expr, index) => ({ record: `panel:${index}`, expr: asAsked(expr) }));
      const file = path.join(folder, 'rules.yml');
      writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules: records }] }));
      assert.match(await promtool('check', 'rules', file), new RegExp(`${records.length} rules found`));
    });
  });

  it('names each alert at the panel that shows its cause', () => {
    const named = panels.flatMap(({ description = '' }) => description.match(/\bCheckout\w+/g) ?? []);
    assert.deepEqual(new Set(named), new Set(rules.map(({ alert }) => alert)));
  });
});

/** Prometheus' own metrics. */
const OF_PROMETHEUS: Series[] = [
  { metric: 'up', labels: {} },
  { metric: 'ALERTS', labels: { alertname: 'CheckoutDown', alertstate: 'firing', severity: 'page' } },
];
const ITS_LABELS = ['instance', 'job'];

describe('the metrics of alerts and dashboard', () => {
  let app: TestApp;
  let worker: Closable;
  let series: Series[];
  before(async () => {
    const { databaseUrl, redisUrl } = testServices();
    app = await openTestApp({
      METRICS_TOKEN: TOKEN,
      DATABASE_REPLICA_URL: databaseUrl,
      DATABASE_DISK_BYTES: '1000000000000',
    });
    const urls = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, FACILITATOR_URL: 'http://127.0.0.1:1' };
    worker = await startWorker(loadConfig(urls, 'worker'), createLogger('silent', 'test'));
    await eventually(async () => {
      const page = await request(app.server).get('/metrics').set('Authorization', `Bearer ${TOKEN}`);
      series = [...readSeries(page.text), ...OF_PROMETHEUS];
      assert.ok(series.some(({ labels }) => labels.worker !== undefined));
      assert.ok(series.some(({ metric }) => metric === 'checkout_queue_jobs'));
    });
  });
  after(async () => {
    await worker.close();
    await app.close();
  });

  const missing = (expr: string): string[] => missingSeries(readPromQl(expr), series, ITS_LABELS);

  for (const { alert, expr } of rules) {
    it(`exist: ${alert}`, () => assert.deepEqual(missing(expr), []));
  }

  for (const { title, targets = [] } of panels.filter((panel) => panel.targets)) {
    it(`exist: ${title}`, () => {
      for (const { expr } of targets) assert.deepEqual(missing(asAsked(expr)), []);
    });
  }

  it('are reported when they are missing', () => {
    for (const [expr, what] of [
      ['max(checkout_nothing)', /checkout_nothing/],
      ['sum by (nobody) (rate(checkout_link_answers_total[5m]))', /^nobody$/],
      ['checkout_link_answers_total{outcome="nothing"} > 0', /nothing/],
      [
        'increase(checkout_log_lines_total{event=~"payment.surplus|payment.nothing"}[1h])',
        /payment\.nothing/,
      ],
      ['checkout_settle_call_seconds_count{nobody!=""} and on (worker) up', /nobody/],
    ] as const)
      assert.match(missing(expr).join(), what);
  });
});
