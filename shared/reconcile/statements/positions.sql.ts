import type { Statement } from '../../db/statement.js';

/** The furthest position among the readers in $1 for part $2, network $3 and list $4. */
export const READ_POSITION: Statement = {
  name: 'reconcile_position',
  text: `
    SELECT position, told AS reported, unchecked, read_until AS "readUntil" FROM reconcile_positions
    WHERE reader = ANY ($1) AND part = $2 AND network = $3 AND list = $4
    ORDER BY reconcile_positions.position DESC LIMIT 1`,
};

export const WRITE_POSITION: Statement = {
  name: 'write_reconcile_position',
  text: `
    INSERT INTO reconcile_positions (reader, part, network, list, position, told, unchecked, read_until)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (reader, part, network, list) DO UPDATE SET position = $5, told = $6, unchecked = $7, read_until = $8`,
};

/** The worker whose statement moves the time has the lease; a time further ahead than $1 + $2 seconds was set by a wrong clock. */
export const TAKE_LEASE: Statement = {
  name: 'take_reconcile_lease',
  text: `
    INSERT INTO reconcile_turns (due_at) VALUES (now() + $2 * interval '1 second')
    ON CONFLICT (only_row) DO UPDATE SET due_at = now() + $2 * interval '1 second'
    WHERE reconcile_turns.due_at <= now()
      OR reconcile_turns.due_at > now() + ($1::float8 + $2) * interval '1 second'
    RETURNING only_row`,
};

export const SET_LEASE_END: Statement = {
  name: 'set_reconcile_lease_end',
  text: `UPDATE reconcile_turns SET due_at = now() + $1 * interval '1 second'`,
};

/** The networks of all positions, which is the whole table, and of payments since id $1. Once in a run. */
export const NETWORKS_IN_BOOKS: Statement = {
  name: 'networks_in_books',
  text: 'SELECT network FROM reconcile_positions UNION SELECT network FROM payments WHERE id >= $1',
};
