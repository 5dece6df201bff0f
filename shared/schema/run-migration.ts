import { setTimeout as sleep } from 'node:timers/promises';
import { sqlState } from '../db/constraints.js';
import type { Knex } from '../db/knex.js';
import { runStatement, type Statement } from '../db/statement.js';
import type { Logger } from '../process/logger.js';
import { waitAtMost } from '../process/within.js';
import { INDEX_PROGRESS, OPEN_TRANSACTIONS } from './watch-migration.sql.js';

/** One migration, up or down: in turns, when others have its tables, and told of while it takes long. */
export interface MigrationRun {
  knex: Knex;
  config: Knex.MigratorConfig;
  logger: Logger;
  times: MigrationTimes;
}

export interface MigrationTimes {
  /** How often it says how far it is. */
  tellEveryMs: number;
  /** After which it stops asking for a lock that others keep. */
  giveUpAfterMs: number;
}

const NO_LOCK = '55P03';
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

export async function runMigration(run: MigrationRun, direction: 'up' | 'down', name: string): Promise<void> {
  const { knex, config, logger } = run;
  const startedAt = performance.now();
  logger.info({ event: 'migration.started', migration: name, direction });
  const work = inTurns(run, name, async () => {
    await knex.migrate[direction]({ ...config, name });
  });
  while (!(await waitAtMost(run.times.tellEveryMs, work))) await tellProgress(run, name, startedAt);
  logger.info({ event: 'migration.finished', migration: name, direction, seconds: secondsSince(startedAt) });
}

/** The whole of it is undone when a lock does not come in time, and those who waited behind it go on. */
async function inTurns(run: MigrationRun, name: string, work: () => Promise<void>): Promise<void> {
  const { giveUpAfterMs } = run.times;
  const startedAt = performance.now();
  let toldAt = Number.NEGATIVE_INFINITY;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (sqlState(error) !== NO_LOCK) throw error;
      const inTheWay = await read(run.knex, OPEN_TRANSACTIONS);
      if (performance.now() - startedAt > giveUpAfterMs) throw new Error(tooLong(name, inTheWay));
      if (performance.now() - toldAt > run.times.tellEveryMs) {
        toldAt = performance.now();
        run.logger.warn({ event: 'migration.waits', migration: name, in_the_way: inTheWay });
      }
    }
    await sleep(pauseMs * (0.75 + Math.random() / 2));
  }
}

function tooLong(name: string, inTheWay: readonly object[]): string {
  return `Migration ${name} did not get its lock: others have the table. The longest open transactions: ${JSON.stringify(inTheWay)}. Nothing was changed by it; end them and migrate again.`;
}

async function tellProgress({ knex, logger }: MigrationRun, name: string, startedAt: number): Promise<void> {
  const [index] = await read(knex, INDEX_PROGRESS);
  logger.info({
    event: 'migration.progress',
    migration: name,
    seconds: secondsSince(startedAt),
    ...(index && { index }),
  });
}

/** Only told. */
async function read(knex: Knex, statement: Statement): Promise<object[]> {
  return await runStatement<object>(knex, statement, []).catch(() => []);
}

function secondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) / 1000);
}
