import assert from 'node:assert/strict';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { eventually } from '../../lab/world/processes/eventually.js';
import { startSessionPooler } from '../../lab/world/processes/pgbouncer.js';
import {
  startTestPostgres,
  startTestRedis,
  type TestServer,
  THROWAWAY,
} from '../../lab/world/processes/services.js';
import { forgetEnded, runningOutputs } from '../../lab/world/processes/supervisor.js';
import { IN_MEMORY } from '../../lab/world/processes/throwaway-folder.js';
import { loadConfig } from '../../shared/config/config.js';
import { resetClock, unmockedHostMs } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';
import { migrate } from '../../shared/schema/migrate.js';

/**
 * Mocha's fixtures. A run has one Postgres; each of mocha's processes has its own database and Redis, so that
 * parallel files share no rows, queue or moved clock. A file or a run that leaves something open fails.
 */
interface TestServices {
  /** Leads through a pooler, so that a file gets the connections of the files before it. */
  databaseUrl: string;
  redisUrl: string;
}

/** Pass the run's Postgres, and the pooler before it, to mocha's other processes. */
const POSTGRES_URL = 'STABLECOIN_CHECKOUT_TEST_POSTGRES_URL';
const POOLER_URL = 'STABLECOIN_CHECKOUT_TEST_POOLER_URL';
/** The template database, to which no test connects. */
const MIGRATED = 'migrated';
/** Longer than the 15 s for which a BullMQ worker pauses after an interrupted command. */
const LEAK_GRACE_MS = 20_000;
/** Databases that the specs of a file created. */
const databases: string[] = [];
/** Resources that a spec opened for the rest of its file. */
const openedLate: (() => Promise<void>)[] = [];
/** Resources that stay open until this process ends. */
const kept: { close(): Promise<void> }[] = [];

let postgres: TestServer | undefined;
let pooler: TestServer | undefined;
let redis: TestServer | undefined;
let services: TestServices | undefined;
/** Whether a file has had the services since their work was forgotten. */
let servicesUsed = false;
let admin: pg.Pool | undefined;
let openAtFirst: Map<string, number> | undefined;

// Node's `require` of ES modules is off in .mocharc.json, so that mocha imports the files. The service loads some of its modules
// by `import()`; required files would have other copies of them, each with a clock of its own.
assert.notEqual(Reflect.get(process.features, 'require_module'), true, 'start mocha with its .mocharc.json');

// For a failing `assert.ok` without a message, Node reads and parses its source, which takes seconds in what tsx made of it.
const { ok } = assert;
assert.ok = (...[value, message = 'not truthy']: Parameters<typeof assert.ok>) => ok(value, message);

/** Runs once, before mocha starts other processes. */
export async function mochaGlobalSetup(): Promise<void> {
  // Autovacuum starts a process for each of the hundreds of databases every minute: an eighth of a processor for 400 of them.
  postgres = await startTestPostgres({ ...THROWAWAY, autovacuum: 'off', max_connections: 500 });
  pooler = await startSessionPooler(postgres.url);
  process.env[POSTGRES_URL] = postgres.url;
  process.env[POOLER_URL] = pooler.url;
  const template = await create(MIGRATED, 'template1');
  await migrate(loadConfig({ DATABASE_URL: template }, 'migrate'), createLogger('silent', 'test'));
}

export async function mochaGlobalTeardown(): Promise<void> {
  await admin?.end();
  await Promise.all([redis?.stop(), ...kept.map((one) => one.close())]);
  await pooler?.stop();
  await postgres?.stop();
  const leak = setTimeout(() => {
    process.stderr.write(`The suite left something open: ${process.getActiveResourcesInfo().join(', ')}\n`);
    process.exit(1);
  }, LEAK_GRACE_MS);
  leak.unref();
}

/** Runs around each file; in a run of one process, around all of them. */
export const mochaHooks = {
  async beforeAll(): Promise<void> {
    // Waits, because mocha's own timer for this hook starts after it, as in `afterAll`.
    await setImmediate();
    openAtFirst ??= countOpen();
    if (services === undefined) {
      // Redis stops with this process.
      redis = await startTestRedis();
      await create(ownName('main'), MIGRATED);
      services = { databaseUrl: urlOf(ownName('main'), POOLER_URL), redisUrl: redis.url };
    }
    if (servicesUsed) await forgetWork(services);
    servicesUsed = false;
  },

  beforeEach: forgetEnded,

  /** The reporter prints the logs with the failure. */
  afterEach(this: Mocha.Context): void {
    const error = this.currentTest?.err;
    if (this.currentTest?.state !== 'failed' || error === undefined) return;
    const logs = runningOutputs().map(
      ({ name, pid, tail }) => `${name} (process ${pid}) wrote last:\n${tail}`,
    );
    if (logs.length > 0) Object.assign(error, { processLogs: logs.join('\n') });
  },

  async afterAll(this: Mocha.Context): Promise<void> {
    const files = new Set(this.test?.parent?.suites.map(({ file }) => file && path.relative('.', file)));
    await setImmediate();
    for (const close of openedLate.splice(0)) await close();
    assert.equal(Date.now, unmockedHostMs, `${[...files].join(', ')} left the clock stopped`);
    resetClock();
    await eventually(() => {
      const leaks = [...countOpen()].filter(([type, count]) => count > (openAtFirst?.get(type) ?? 0));
      assert.deepEqual(leaks, [], `${[...files].join(', ')} left something open`);
    }, LEAK_GRACE_MS).catch((error: unknown) => {
      // A leak fails the file that caused it, and none of the files after it.
      openAtFirst = countOpen();
      throw error;
    });
    await dropDatabases();
  },
};

/** Frees the memory of the databases. On a disk they stay: a file system is slow to make files after many were removed. */
async function dropDatabases(): Promise<void> {
  const names = databases.splice(0);
  if (names.length === 0) return;
  const { rows } = await asAdmin('SHOW data_directory');
  if (!String(rows[0].data_directory).startsWith(IN_MEMORY)) return;
  for (const name of names)
    await asAdmin(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
}

/**
 * A worker of the next file would settle the payments that a file left due. A file's keys in Redis would look like another
 * deployment's, since many files have databases of their own.
 */
async function forgetWork({ databaseUrl, redisUrl }: TestServices): Promise<void> {
  const redisClient = new Redis(redisUrl);
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  await Promise.all([
    redisClient.flushall(),
    db.query('UPDATE payments SET stage = NULL, due_at = NULL WHERE stage IS NOT NULL OR due_at IS NOT NULL'),
  ]);
  redisClient.disconnect();
  await db.end();
}

/** Closes at the end of a file what its first user opened. */
export function closeAfterFile(close: () => Promise<void>): void {
  openedLate.push(close);
}

/**
 * Opens a resource for every file of this process. Mocha's other processes end without a teardown, so the resource must
 * end with its process. Nothing else may be opened meanwhile, since what this opens is no leak.
 */
export async function keepOpen(open: () => Promise<{ close(): Promise<void> }>): Promise<void> {
  const before = countOpen();
  kept.push(await open());
  for (const [type, count] of countOpen()) {
    const added = count - (before.get(type) ?? 0);
    if (added > 0) openAtFirst?.set(type, (openAtFirst.get(type) ?? 0) + added);
  }
}

export function testServices(): TestServices {
  if (services === undefined) throw new Error('the suite has not started its services');
  servicesUsed = true;
  return services;
}

/** Creates an empty, unmigrated database. */
export async function createDatabase(name: string): Promise<string> {
  return await createForFile(name, 'template1');
}

/** Creates an empty, migrated database. */
export async function createMigratedDatabase(name: string): Promise<string> {
  return await createForFile(name, MIGRATED);
}

/**
 * The same behind the suite's pooler, for files that open connections to it again and again. Not for queues in Postgres, which
 * listen, nor for specs of the database's own settings.
 */
export async function createPooledDatabase(name: string): Promise<string> {
  await createMigratedDatabase(name);
  return urlOf(ownName(name), POOLER_URL);
}

async function createForFile(name: string, template: string): Promise<string> {
  databases.push(ownName(name));
  return await create(ownName(name), template);
}

function ownName(name: string): string {
  return `${name}_${process.pid}`;
}

async function create(name: string, template: string): Promise<string> {
  const [database, from] = [name, template].map(pg.escapeIdentifier);
  await asAdmin(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  await asAdmin(`CREATE DATABASE ${database} TEMPLATE ${from} STRATEGY file_copy`);
  return urlOf(name, POSTGRES_URL);
}

function urlOf(name: string, server: typeof POSTGRES_URL | typeof POOLER_URL): string {
  const url = new URL(process.env[server] ?? '');
  url.pathname = `/${name}`;
  return url.href;
}

/** Each of mocha's processes keeps one connection, which holds no process open while it is idle. */
async function asAdmin(text: string): Promise<pg.QueryResult> {
  if (admin === undefined) {
    const connectionString = process.env[POSTGRES_URL] ?? '';
    admin = new pg.Pool({ connectionString, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
    // Postgres closes the idle connection when it stops.
    admin.on('error', () => {});
  }
  return await admin.query(text);
}

/** Counts the resources that keep this process alive, by type. */
function countOpen(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}
