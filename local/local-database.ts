import path from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.js';
import { projectRoot } from './project-root.js';

/** What `npm start` keeps between two starts lives here. */
export function dataFolder(): string {
  return path.join(projectRoot(), '.data');
}

/** The database of `npm start`: started, or joined when it already runs. */
export async function startLocalDatabase(): Promise<EmbeddedPostgres> {
  return await startEmbeddedPostgres({ dir: path.join(dataFolder(), 'postgres') });
}
