import path from 'node:path';
import { projectRoot } from '../toolchain/project-root.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.js';

/** The folder with the data that `npm start` keeps. */
export function dataFolder(): string {
  return path.join(projectRoot(), '.data');
}

/** Starts the database of `npm start`, or joins it when it runs. */
export async function startLocalDatabase(): Promise<EmbeddedPostgres> {
  return await startEmbeddedPostgres({ dir: path.join(dataFolder(), 'postgres') });
}
