import assert from 'node:assert/strict';
import type { Knex } from '../../shared/db/knex.js';
import { migrationConfig } from '../../shared/schema/migration-files.js';

/** Takes back this migration and all later ones while `act` runs. */
export async function beforeMigration(db: Knex, name: string, act: () => Promise<unknown>): Promise<void> {
  const names = await db('migrations').where('name', '>=', name).orderBy('name', 'desc').pluck('name');
  assert.ok(names.includes(name));
  for (const one of names) await db.migrate.down({ ...migrationConfig, name: one });
  await act();
  for (const one of names.toReversed()) await db.migrate.up({ ...migrationConfig, name: one });
}
