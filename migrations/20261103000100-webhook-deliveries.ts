import type { Knex } from 'knex';

/**
 * One row per event and endpoint that wants it. A pending delivery is due at due_at, or held while that is null;
 * leased_until says how long the try that is on its way may last. history has an entry per try.
 * An endpoint's failing_since is the start of its first failed try since one succeeded; its succeeded_at is the latest
 * success that some other delivery, tried before it, may have to know of.
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
