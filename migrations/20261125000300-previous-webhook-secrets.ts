import type { Knex } from 'knex';

/** Deliveries are signed with the previous secret too until previous_signs_until. Older code signs with the new one only. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE webhook_endpoints
      ADD COLUMN previous_sealed_secret text,
      ADD COLUMN previous_signs_until timestamptz,
      ADD CHECK ((previous_sealed_secret IS NULL) = (previous_signs_until IS NULL))`);
  // The index serves the clean-up.
  await knex.raw(
    `CREATE INDEX webhook_endpoints_rolled ON webhook_endpoints (previous_signs_until)
     WHERE previous_signs_until IS NOT NULL`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'ALTER TABLE webhook_endpoints DROP COLUMN previous_sealed_secret, DROP COLUMN previous_signs_until',
  );
}
