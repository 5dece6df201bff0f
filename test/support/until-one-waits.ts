import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import type { Knex } from '../../shared/db/knex.js';

/** Resolves when one statement in this database waits for a lock. */
export async function untilOneWaits(db: Knex): Promise<void> {
  await eventually(async () => {
    const { rows } = await db.raw(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    assert.equal(rows.length, 1);
  });
}
