import type { Knex } from 'knex';

/** The index finds finished deliveries that still hold receivers' answers, for the clean-up. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE webhook_deliveries ADD COLUMN answers_removed boolean NOT NULL DEFAULT false');
  await knex.raw(
    `CREATE INDEX webhook_deliveries_with_answers ON webhook_deliveries (id)
     WHERE status <> 'pending' AND NOT answers_removed`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE webhook_deliveries DROP COLUMN answers_removed');
}
