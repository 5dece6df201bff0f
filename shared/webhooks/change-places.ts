import type { Knex } from '../db/knex.js';
import { WebhookEndpoint } from './model.js';

/** False when another worker has changed them meanwhile, or the endpoint has begun to fail. */
export async function changePlaces(
  db: Knex,
  { id, places }: Pick<WebhookEndpoint, 'id' | 'places'>,
  to: number,
): Promise<boolean> {
  const changed = await WebhookEndpoint.query(db)
    .findById(id)
    .patch({ places: to })
    .where({ places })
    .whereNull('failingSince');
  return changed === 1;
}
