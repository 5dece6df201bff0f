import path from 'node:path';
import { projectRoot } from '../toolchain/project-root.js';
import { type EmbeddedPostgres, findEmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.js';

/** The folder with the data that `npm start` keeps. */
export function dataFolder(): string {
  return path.join(projectRoot(), '.data');
}

const databaseFolder = (): string => path.join(dataFolder(), 'postgres');

/** Starts the database of `npm start`, or joins it when it runs. */
export async function startLocalDatabase(): Promise<EmbeddedPostgres> {
  return await startEmbeddedPostgres({ dir: databaseFolder() });
}

/** The URL of the database of a running `npm start`, or undefined when none runs. */
export async function findLocalDatabase(): Promise<string | undefined> {
  return await findEmbeddedPostgres({ dir: databaseFolder() });
}
