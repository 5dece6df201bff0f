import { runMigrations } from 'bullmq';
import type { Client } from 'pg';

/** BullMQ's own tables, in their own schema, for the queue that lives in Postgres. */
export async function migrateQueues(client: Client): Promise<void> {
  await runMigrations(client);
}
