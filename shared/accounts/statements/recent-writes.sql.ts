import type { Statement } from '../../db/statement.js';

/** By Postgres' clock, as the standby's answers are dated. */
export const NOTE_WRITE: Statement = {
  name: 'note-write',
  text: `
  INSERT INTO account_writes AS known (account_id, until)
  VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond')
  ON CONFLICT (account_id) DO UPDATE SET until = greatest(known.until, excluded.until)`,
};

/** Which of those who ask may be answered by a standby that shows all until then. */
export const MAY_ASK_STANDBY: Statement = {
  name: 'may-ask-standby',
  text: `
  SELECT asked.position::int FROM unnest($1::text[], $2::text[], $3::timestamptz[]) WITH ORDINALITY
    AS asked (key_id, account_id, shown_until, position)
  WHERE (SELECT revoked_at IS NULL FROM api_keys WHERE id = asked.key_id)
    AND coalesce((SELECT until <= asked.shown_until FROM account_writes WHERE account_id = asked.account_id), true)`,
};
