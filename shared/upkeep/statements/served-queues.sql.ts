import type { Statement } from '../../db/statement.js';

/** Ages are compared by Postgres' clock, which all processes share. */
export const NOTE_SERVED: Statement = {
  text: `
    WITH gone AS (
      DELETE FROM served_queues WHERE (worker, queue) IN (
        SELECT worker, queue FROM served_queues
        WHERE seen_at < now() - interval '10 minutes' AND worker <> $1 FOR UPDATE SKIP LOCKED
      )
    ), here AS (
      INSERT INTO served_queues (worker, queue, seen_at) SELECT $1, queue, now() FROM unnest($2::text[]) AS own (queue)
      ON CONFLICT (worker, queue) DO UPDATE SET seen_at = now()
    )
    SELECT DISTINCT queue FROM served_queues
    WHERE worker <> $1 AND seen_at > now() - $3 * interval '1 millisecond'`,
};

export const LEAVE_SERVED: Statement = { text: 'DELETE FROM served_queues WHERE worker = $1' };
