import knexFactory from 'knex';
import { loadConfig } from '../../shared/config.js';
import { migrate } from '../../shared/db/migrate.js';
import { createLogger } from '../../shared/logger.js';
import { startTestServices, type TestServices } from './services.js';

/**
 * Mocha's global fixtures: one real Postgres and one real Redis for the whole run. A run that leaves something
 * open after everything was closed does not end well: it is told, and fails.
 */
let services: TestServices | undefined;
const LEAK_GRACE_MS = 10_000;

export async function mochaGlobalSetup(): Promise<void> {
  services = await startTestServices();
  await migrate(
    loadConfig({ DATABASE_URL: services.databaseUrl }, 'migrate'),
    createLogger('silent', 'test'),
  );
}

export async function mochaGlobalTeardown(): Promise<void> {
  await services?.stop();
  const leak = setTimeout(() => {
    process.stderr.write(`The suite left something open: ${process.getActiveResourcesInfo().join(', ')}\n`);
    process.exit(1);
  }, LEAK_GRACE_MS);
  leak.unref();
}

export function testServices(): TestServices {
  if (services === undefined) throw new Error('the suite has not started its services');
  return services;
}

/** An empty, unmigrated database of its own. */
export async function createDatabase(name: string): Promise<string> {
  const { databaseUrl } = testServices();
  const admin = knexFactory({ client: 'pg', connection: databaseUrl });
  try {
    await admin.raw('DROP DATABASE IF EXISTS ??', [name]);
    await admin.raw('CREATE DATABASE ??', [name]);
  } finally {
    await admin.destroy();
  }
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}
