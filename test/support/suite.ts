import assert from 'node:assert/strict';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import knexFactory from 'knex';
import { eventually } from '../../lab/world/processes/eventually.js';
import { startTestPostgres, startTestRedis, type TestServer } from '../../lab/world/processes/services.js';
import { loadConfig } from '../../shared/config/config.js';
import { migrate } from '../../shared/migrate.js';
import { resetClock, unmockedHostMs } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';

/**
 * Mocha's fixtures. The run has one Postgres; each of mocha's processes has a database in it and a Redis of its own, so
 * that files that run at the same time share no rows, no queue and no moved clock. A file that leaves something open
 * fails, and so does a run.
 */
export interface TestServices {
  databaseUrl: string;
  redisUrl: string;
}

/** How the other processes learn of the run's Postgres. */
const POSTGRES_URL = 'STABLECOIN_CHECKOUT_TEST_POSTGRES_URL';
/** Nobody connects to it: it is copied. */
const MIGRATED = 'migrated';
/** Longer than the 15 s for which a BullMQ worker pauses when its last question was cut off. */
const LEAK_GRACE_MS = 20_000;
/** What a spec opened for itself and those after it. */
const openedLate: (() => Promise<void>)[] = [];

let postgres: TestServer | undefined;
let redis: TestServer | undefined;
let services: TestServices | undefined;
let openAtFirst: Map<string, number> | undefined;

/** Once in a run, before there are other processes. */
export async function mochaGlobalSetup(): Promise<void> {
  postgres = await startTestPostgres();
  process.env[POSTGRES_URL] = postgres.url;
  const template = await create(MIGRATED, 'template1');
  await migrate(loadConfig({ DATABASE_URL: template }, 'migrate'), createLogger('silent', 'test'));
}

export async function mochaGlobalTeardown(): Promise<void> {
  await Promise.all([postgres?.stop(), redis?.stop()]);
  const leak = setTimeout(() => {
    process.stderr.write(`The suite left something open: ${process.getActiveResourcesInfo().join(', ')}\n`);
    process.exit(1);
  }, LEAK_GRACE_MS);
  leak.unref();
}

/** Around each file; around all of them in a run of one process. */
export const mochaHooks = {
  async beforeAll(): Promise<void> {
    // As in the other hook, mocha's own timer for this one runs by then.
    await setImmediate();
    openAtFirst ??= countOpen();
    if (services === undefined) {
      // It ends with this process.
      redis = await startTestRedis();
      const databaseUrl = await create(ownName('main'), MIGRATED);
      services = { databaseUrl, redisUrl: redis.url };
    }
  },

  async afterAll(this: Mocha.Context): Promise<void> {
    const files = new Set(this.test?.parent?.suites.map(({ file }) => file && path.relative('.', file)));
    await setImmediate();
    for (const close of openedLate.splice(0)) await close();
    assert.equal(Date.now, unmockedHostMs, `${[...files].join(', ')} left the clock standing still`);
    resetClock();
    await eventually(() => {
      const leaks = [...countOpen()].filter(([type, count]) => count > (openAtFirst?.get(type) ?? 0));
      assert.deepEqual(leaks, [], `${[...files].join(', ')} left something open`);
    }, LEAK_GRACE_MS);
  },
};

/** For what a file's first user opens, and later ones use too. */
export function closeAfterFile(close: () => Promise<void>): void {
  openedLate.push(close);
}

/** For a program outside mocha that uses what tests use. */
export async function lendServices(lent: TestServices): Promise<void> {
  await migrate(loadConfig({ DATABASE_URL: lent.databaseUrl }, 'migrate'), createLogger('silent', 'test'));
  services = lent;
}

export function testServices(): TestServices {
  if (services === undefined) throw new Error('the suite has not started its services');
  return services;
}

/** An empty, unmigrated database of its own. */
export async function createDatabase(name: string): Promise<string> {
  return await create(ownName(name), 'template1');
}

/** An empty database of its own, with all tables. */
export async function createMigratedDatabase(name: string): Promise<string> {
  return await create(ownName(name), MIGRATED);
}

function ownName(name: string): string {
  return `${name}_${process.pid}`;
}

async function create(name: string, template: string): Promise<string> {
  const url = new URL(process.env[POSTGRES_URL] ?? '');
  const admin = knexFactory({ client: 'pg', connection: url.href });
  try {
    await admin.raw('DROP DATABASE IF EXISTS ??', [name]);
    await admin.raw('CREATE DATABASE ?? TEMPLATE ?? STRATEGY file_copy', [name, template]);
  } finally {
    await admin.destroy();
  }
  url.pathname = `/${name}`;
  return url.href;
}

/** What keeps this process alive, by type. */
function countOpen(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}
