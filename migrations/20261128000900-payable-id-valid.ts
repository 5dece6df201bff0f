import type { Knex } from 'knex';

/**
 * Validates the checks of the previous migration; VALIDATE CONSTRAINT does not block writers. Then drops the old foreign
 * keys: the trigger keeps both columns equal, and one look-up of the payable per INSERT is enough.
 */
export async function up(knex: Knex): Promise<void> {
  for (const table of ['payments', 'events']) {
    await knex.raw(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${table}_payable_id`);
    await knex.raw(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${table}_payable`);
    await knex.raw(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_checkout_session_id_fkey`);
  }
  await knex.raw('ALTER TABLE payment_marks VALIDATE CONSTRAINT payment_marks_payable_id');
}

export async function down(knex: Knex): Promise<void> {
  for (const table of ['payments', 'events'])
    await knex.raw(`
      ALTER TABLE ${table} ADD CONSTRAINT ${table}_checkout_session_id_fkey
        FOREIGN KEY (checkout_session_id) REFERENCES payables NOT VALID`);
}
