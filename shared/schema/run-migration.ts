import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from '../db/knex.js';
import { LOCK_NOT_AVAILABLE, sqlState } from '../db/postgres-errors.js';
import { runStatement, type Statement } from '../db/statement.js';
import type { Logger } from '../process/logger.js';
import { withJitter } from '../process/pause.js';
import { waitAtMost } from '../process/timeout.js';
import { INDEX_PROGRESS, OPEN_TRANSACTIONS } from './watch-migration.sql.js';

export interface MigrationRun {
  knex: Knex;
  config: Knex.MigratorConfig;
  logger: Logger;
  times: MigrationTimes;
}

export interface MigrationTimes {
  logEveryMs: number;
  /** Retries for a lock end after this time. */
  lockDeadlineMs: number;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** Runs one migration, up or down, retries it while other transactions lock its tables, and logs its progress. */
export async function runMigration(run: MigrationRun, direction: 'up' | 'down', name: string): Promise<void> {
  const { knex, config, logger } = run;
  const startedAt = performance.now();
  logger.info({ event: 'migration.started', migration: name, direction });
  const work = retryForLock(run, name, async () => {
    await knex.migrate[direction]({ ...config, name });
  });
  while (!(await waitAtMost(run.times.logEveryMs, work))) await logProgress(run, name, startedAt);
  logger.info({ event: 'migration.finished', migration: name, direction, seconds: secondsSince(startedAt) });
}

/** Each attempt that misses a lock is rolled back, so that the transactions queued behind it can go on. */
async function retryForLock(run: MigrationRun, name: string, work: () => Promise<void>): Promise<void> {
  const { lockDeadlineMs, logEveryMs } = run.times;
  const startedAt = performance.now();
  let loggedAt = Number.NEGATIVE_INFINITY;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
      const blockers = await read(run.knex, OPEN_TRANSACTIONS);
      if (performance.now() - startedAt > lockDeadlineMs) throw new Error(lockError(name, blockers));
      if (performance.now() - loggedAt > logEveryMs) {
        loggedAt = performance.now();
        run.logger.warn({ event: 'migration.waits', migration: name, in_the_way: blockers });
      }
    }
    await sleep(withJitter(pauseMs, 0.25));
  }
}

function lockError(name: string, blockers: readonly object[]): string {
  return `Migration ${name} did not get its lock: other transactions hold the table. The longest open transactions: ${JSON.stringify(blockers)}. The migration changed nothing. End these transactions and migrate again.`;
}

async function logProgress({ knex, logger }: MigrationRun, name: string, startedAt: number): Promise<void> {
  const [index] = await read(knex, INDEX_PROGRESS);
  logger.info({
    event: 'migration.progress',
    migration: name,
    seconds: secondsSince(startedAt),
    ...(index && { index }),
  });
}

/** Reads rows that only log lines and errors show, so failures are ignored. */
async function read(knex: Knex, statement: Statement): Promise<object[]> {
  return await runStatement<object>(knex, statement, []).catch(() => []);
}

function secondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) / 1000);
}
