import type { Client } from 'pg';

/** Creates BullMQ's tables, in a schema of their own, for queues in Postgres. */
export async function migrateQueues(client: Client): Promise<void> {
  const { runMigrations } = await import('bullmq');
  await runMigrations(client);
}
