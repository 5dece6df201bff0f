import type { Statement } from '../../db/statement.js';

/** `until` is a time on the primary's clock, like Replica.shownUntil. */
export const NOTE_WRITE: Statement = {
  name: 'note-write',
  text: `
  INSERT INTO account_writes AS known (account_id, until)
  VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond')
  ON CONFLICT (account_id) DO UPDATE SET until = greatest(known.until, excluded.until)`,
};

/** The positions of the reads that a standby may serve which shows all commits before `shown_until`. */
export const MAY_READ_REPLICA: Statement = {
  name: 'may-ask-standby',
  text: `
  SELECT asked.position::int FROM unnest($1::text[], $2::text[], $3::timestamptz[]) WITH ORDINALITY
    AS asked (key_id, account_id, shown_until, position)
  WHERE (SELECT revoked_at IS NULL FROM api_keys WHERE id = asked.key_id)
    AND coalesce((SELECT until <= asked.shown_until FROM account_writes WHERE account_id = asked.account_id), true)`,
};
