import type { Knex } from 'knex';

/** Workers read the due payments of one stage, whatever is due in the others. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX payments_due');
  await knex.raw('CREATE INDEX payments_due ON payments (stage, due_at) WHERE due_at IS NOT NULL');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX payments_due');
  await knex.raw('CREATE INDEX payments_due ON payments (due_at) WHERE due_at IS NOT NULL');
}
