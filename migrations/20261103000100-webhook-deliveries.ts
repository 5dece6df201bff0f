import type { Knex } from 'knex';

/**
 * One row per event and subscribed endpoint. A pending delivery is due at due_at, or held while due_at is null.
 * leased_until: the latest end of the try in flight. history: one entry per try.
 * An endpoint's failing_since: the start of its first failed try since the last success. succeeded_at: its latest success,
 * for deliveries whose try began before it and fails afterwards.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE webhook_deliveries (
      id text COLLATE "C" PRIMARY KEY,
      event_id text COLLATE "C" NOT NULL REFERENCES events,
      endpoint_id text COLLATE "C" NOT NULL REFERENCES webhook_endpoints,
      status text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'dropped')),
      due_at timestamptz CHECK (due_at IS NULL OR status = 'pending'),
      leased_until timestamptz,
      attempt integer NOT NULL DEFAULT 0,
      tries integer NOT NULL DEFAULT 0,
      history jsonb NOT NULL DEFAULT '[]'
    )`);
  await knex.raw('CREATE INDEX webhook_deliveries_of_event ON webhook_deliveries (event_id)');
  // Endpoint first: the sweep steps from one endpoint to the next, however much is due for each.
  await knex.raw(
    'CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at) WHERE due_at IS NOT NULL',
  );
  await knex.raw(
    'CREATE INDEX webhook_deliveries_in_flight ON webhook_deliveries (endpoint_id, leased_until) WHERE leased_until IS NOT NULL',
  );
  await knex.raw(
    `CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (endpoint_id) WHERE status = 'pending'`,
  );
  await knex.raw(
    'ALTER TABLE webhook_endpoints ADD COLUMN failing_since timestamptz, ADD COLUMN succeeded_at timestamptz',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE webhook_endpoints DROP COLUMN failing_since, DROP COLUMN succeeded_at');
  await knex.raw('DROP TABLE webhook_deliveries');
}
