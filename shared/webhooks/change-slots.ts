import type { Knex } from '../db/knex.js';
import { WebhookEndpoint } from './model.js';
import type { TakenEndpoint } from './take-due.js';

/** False when another worker has changed the number meanwhile, or the endpoint has begun to fail. */
export async function changeSlots(
  db: Knex,
  { id, slots }: Pick<TakenEndpoint, 'id' | 'slots'>,
  to: number,
): Promise<boolean> {
  const changed = await WebhookEndpoint.query(db)
    .findById(id)
    .patch({ places: to })
    .where({ places: slots })
    .whereNull('failingSince');
  return changed === 1;
}
