import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { ALONE_AFTER_DEATHS } from '../limits/bounds.js';
import { now, nowMs } from '../process/clock.js';
import { COUNT_DEATHS, FORGET_DEATHS, TAKE_ONE_APART } from './statements/work-in-hand.sql.js';

/**
 * What a worker takes at once is in Postgres before it is worked on, and the statement that finishes it takes it out
 * again. So what is left behind was not finished: its worker died, or its statement failed or took too long. Rows that
 * were left behind twice are taken alone, after all others, with pauses that grow; the finishing statement forgets that.
 */
export interface WorkInHand {
  id: string;
  ids: string[];
}

/** Between taking and finishing lies one round trip. */
const LEFT_BEHIND_MS = 5000;
const DEATHS_KEPT_MS = 24 * 3_600_000;

/** Rows that are taken alone from here on. */
export interface Apart {
  work: string;
  deaths: number;
  ids: string[];
}

export async function countDeaths(db: Knex): Promise<Apart[]> {
  const rows = await runStatement<{ work: string; id: string; deaths: number }>(db, COUNT_DEATHS, [
    new Date(nowMs() - LEFT_BEHIND_MS),
    now(),
  ]);
  const all = new Map<string, Apart>();
  for (const { work, id, deaths } of rows) {
    if (deaths < ALONE_AFTER_DEATHS) continue;
    const key = `${work} ${deaths}`;
    const apart = all.get(key) ?? { work, deaths, ids: [] };
    apart.ids.push(id);
    all.set(key, apart);
  }
  return [...all.values()];
}

export async function takeOneApart(db: Knex, work: string): Promise<WorkInHand | undefined> {
  const [taken] = await runStatement<WorkInHand>(db, TAKE_ONE_APART, [work, now()]);
  return taken;
}

export async function forgetDeaths(db: Knex): Promise<void> {
  await runStatement(db, FORGET_DEATHS, [new Date(nowMs() - DEATHS_KEPT_MS)]);
}
