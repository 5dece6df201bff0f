import type { Knex } from 'knex';

/**
 * What a link tells of the items without reading them. Null in rows of before, and of an older version that still serves:
 * those are read whole for it. No row is rewritten: a session can be paid for a day.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE checkout_sessions ADD COLUMN summary json');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE checkout_sessions DROP COLUMN summary');
}
