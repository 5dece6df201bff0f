import type { Knex } from 'knex';

/**
 * The audit log of operators' actions. A trigger refuses updates and deletes for every role. Rows are dated by Postgres'
 * clock.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE operator_actions (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      at timestamptz NOT NULL DEFAULT clock_timestamp(),
      who text NOT NULL,
      what text NOT NULL,
      arguments jsonb NOT NULL,
      about text
    )`);
  await knex.raw(`
    CREATE FUNCTION refuse_to_change_operator_actions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'operator_actions only ever grows' USING ERRCODE = 'restrict_violation';
    END $$`);
  await knex.raw(`
    CREATE TRIGGER operator_actions_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON operator_actions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_change_operator_actions()`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE operator_actions');
  await knex.raw('DROP FUNCTION refuse_to_change_operator_actions');
}
