import type { Knex } from 'knex';

/** An identifier belongs to one payment of a session. Of two existing payments the later one loses it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    UPDATE payments later SET identifier = NULL
    WHERE identifier IS NOT NULL AND NOT payload_released AND EXISTS (
      SELECT FROM payments earlier
      WHERE earlier.checkout_session_id = later.checkout_session_id AND earlier.identifier = later.identifier
        AND NOT earlier.payload_released AND earlier.id < later.id
    )`);
  await knex.raw(`
    CREATE UNIQUE INDEX payments_identifier ON payments (checkout_session_id, identifier)
    WHERE identifier IS NOT NULL AND NOT payload_released`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX payments_identifier');
}
