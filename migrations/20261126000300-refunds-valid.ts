import type { Knex } from 'knex';

/** What was promised of every row when its columns came, looked at beside writers. */
export async function up(knex: Knex): Promise<void> {
  for (const name of ['payables_refunded_payment', 'payables_refund_or_not']) {
    await knex.raw(`ALTER TABLE payables VALIDATE CONSTRAINT ${name}`);
  }
}

/** Valid is no harm. */
export async function down(): Promise<void> {}
