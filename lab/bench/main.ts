import { Console } from 'node:console';
import { mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { compareWithBefore } from './before.js';
import { cost } from './cost.js';
import { create, createForm } from './create.js';
import { crowdedEndpoint } from './crowded-endpoint.js';
import { csv } from './csv.js';
import { dashboard } from './dashboard.js';
import { expire } from './expire.js';
import { growth } from './growth.js';
import { isolation } from './isolation.js';
import { page } from './page.js';
import { pay, payLatency } from './pay.js';
import { payReports } from './pay-reports.js';
import { memory, start } from './processes.js';
import { link402, linkPoll, list, retrieve } from './reads.js';
import type { Benchmark, Row } from './report/benchmark.js';
import { drawChart } from './report/chart.js';
import { scaling } from './scaling.js';
import { type BenchServices, startBenchServices } from './system/services.js';
import { openSystem } from './system/system.js';
import { webhookIsolation } from './webhook-isolation.js';
import { webhookLatency } from './webhook-latency.js';
import { webhookNeighbours } from './webhook-neighbours.js';
import { webhooks } from './webhooks.js';

/**
 * `npm run bench [-- <name>]` runs each benchmark on a Postgres and a Redis of its own. It prints a table and writes
 * bench/results/<name>.json and a chart; both are committed for comparison. `before <folder>` compares two checkouts.
 */
const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  create,
  'create-form': createForm,
  retrieve,
  list,
  'link-402': link402,
  'link-poll': linkPoll,
  pay,
  'pay-latency': payLatency,
  'pay-reports': payReports,
  webhooks,
  expire,
  scaling,
  memory,
  csv,
  start,
  isolation,
  cost,
  page,
  'crowded-endpoint': crowdedEndpoint,
  'webhook-isolation': webhookIsolation,
  'webhook-latency': webhookLatency,
  'webhook-neighbours': webhookNeighbours,
  growth,
  dashboard,
};

const RESULTS = path.join(import.meta.dirname, '..', '..', 'bench', 'results');

async function measure(services: BenchServices, benchmark: Benchmark): Promise<Row[]> {
  const system = await openSystem(services);
  try {
    return await benchmark(system);
  } finally {
    await system.close();
  }
}

async function run(name: string, benchmark: Benchmark): Promise<void> {
  const services = await startBenchServices();
  try {
    const rows = await measure(services, benchmark);
    process.stdout.write(`\n${name}\n`);
    new Console(process.stdout).table(rows);
    const machine = { cpus: os.availableParallelism(), node: process.version };
    await mkdir(RESULTS, { recursive: true });
    const json = `${JSON.stringify({ name, machine, rows }, null, 2)}\n`;
    await writeFile(path.join(RESULTS, `${name}.json`), json);
    await writeFile(path.join(RESULTS, `${name}.svg`), drawChart(name, rows));
  } finally {
    await services.stop();
  }
}

const [wanted, folder] = process.argv.slice(2);
const chosen = Object.entries(BENCHMARKS).filter(([name]) => wanted === undefined || name === wanted);
if (wanted === 'before' && folder !== undefined) {
  new Console(process.stdout).table(await compareWithBefore(path.resolve(folder)));
} else if (chosen.length === 0) {
  process.stderr.write(
    `There is no benchmark ${wanted}: ${Object.keys(BENCHMARKS).join(', ')}, before <folder>\n`,
  );
  process.exitCode = 1;
}
for (const [name, benchmark] of chosen) await run(name, benchmark);
process.exit();
