import path from 'node:path';
import { projectRoot } from '../toolchain/project-root.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.js';

/** What `npm start` keeps between two starts lives here. */
export function dataFolder(): string {
  return path.join(projectRoot(), '.data');
}

/** The database of `npm start`: started, or joined when it already runs. */
export async function startLocalDatabase(): Promise<EmbeddedPostgres> {
  return await startEmbeddedPostgres({ dir: path.join(dataFolder(), 'postgres') });
}
