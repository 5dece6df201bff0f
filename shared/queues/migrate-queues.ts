import type { Client } from 'pg';

/** BullMQ's own tables, in their own schema, for the queue that lives in Postgres. */
export async function migrateQueues(client: Client): Promise<void> {
  const { runMigrations } = await import('bullmq');
  await runMigrations(client);
}
