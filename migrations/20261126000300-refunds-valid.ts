import type { Knex } from 'knex';

/** Validates the NOT VALID constraints of refunds; VALIDATE CONSTRAINT does not block writers. */
export async function up(knex: Knex): Promise<void> {
  for (const name of ['payables_refunded_payment', 'payables_refund_or_not']) {
    await knex.raw(`ALTER TABLE payables VALIDATE CONSTRAINT ${name}`);
  }
}

/** Nothing to undo: validated constraints do not disturb older code. */
export async function down(): Promise<void> {}
