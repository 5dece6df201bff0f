import type { Knex } from 'knex';

/** A merchant reads the deliveries of an endpoint, newest first: all of them, or those of one status. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('CREATE INDEX webhook_deliveries_list ON webhook_deliveries (endpoint_id, id)');
  await knex.raw(
    `CREATE INDEX webhook_deliveries_over ON webhook_deliveries (endpoint_id, status, id) WHERE status <> 'pending'`,
  );
  await knex.raw('DROP INDEX webhook_deliveries_pending');
  await knex.raw(
    `CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (endpoint_id, id) WHERE status = 'pending'`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX webhook_deliveries_list, webhook_deliveries_over, webhook_deliveries_pending');
  await knex.raw(
    `CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (endpoint_id) WHERE status = 'pending'`,
  );
}
