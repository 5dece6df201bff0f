import type { Knex } from 'knex';

/**
 * What operators did: by whom, about what, when. A row says what was so when it was written and is never touched again:
 * Postgres refuses that to everybody. It dates the rows too, whatever the clock of whoever writes them says.
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
