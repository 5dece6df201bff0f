import type { Knex } from '../db/knex.js';
import { sqlState, UNDEFINED_TABLE } from '../db/postgres-errors.js';
import { runStatement } from '../db/statement.js';
import { lazy } from '../process/lazy.js';
import { NOTE_DOUBT, NOTE_TIMELINE, READ_INSTALLATION } from './statements/installation.sql.js';

/** The database's record of itself, for all processes that use it. */
export interface Installation {
  id: string;
  /** The oid of the database within its server. */
  database: string;
  /** Postgres' timeline when a process last looked. */
  timeline: number | null;
  /** Milliseconds since a process saw that commits may be lost. */
  doubtedMsAgo: number | null;
}

/** Undefined before the migration that creates the row. */
export async function readInstallation(db: Knex): Promise<Installation | undefined> {
  try {
    return (await runStatement<Installation>(db, READ_INSTALLATION, []))[0];
  } catch (error) {
    if (sqlState(error) === UNDEFINED_TABLE) return undefined;
    throw error;
  }
}

export async function noteTimeline(db: Knex, timeline: number): Promise<void> {
  await runStatement(db, NOTE_TIMELINE, [timeline]);
}

export async function noteDoubt(db: Knex, timeline: number): Promise<void> {
  await runStatement(db, NOTE_DOUBT, [timeline]);
}

/** Reads a part of the queues' names in Redis, once; empty before the migration, as the names of earlier releases. */
export function installationNamer(db: Knex): () => Promise<string> {
  return lazy(async () => {
    const installation = await readInstallation(db);
    return installation === undefined ? '' : nameOf(installation);
  });
}

/** A copy of the database within its server has the same id. */
function nameOf({ id, database }: Pick<Installation, 'id' | 'database'>): string {
  return `${id.slice(0, 8)}-${database}`;
}
