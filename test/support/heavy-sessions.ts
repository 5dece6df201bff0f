import { buildSession } from '../../lab/world/shop/factories.js';
import type { Knex } from '../../shared/db/knex.js';
import type { LineItem } from '../../shared/payables/line-items.js';
import { newId, sessionPrefix } from '../../shared/values/ids.js';

const MOST_ITEMS = 100;
const IMAGES = 8;
const IMAGE = `https://images.example/${'x'.repeat(2000)}`;

/**
 * Builds sessions with this many line items of the largest size, 16 KB each, copied within Postgres; oldest first.
 */
export async function buildHeavySessions(
  db: Knex,
  accountId: string,
  count: number,
  items = MOST_ITEMS,
): Promise<string[]> {
  const { id: first } = await buildSession(db, accountId, { lineItems: heavyItems(items) });
  const ids = Array.from({ length: count - 1 }, () => newId(sessionPrefix(false)));
  await db.raw(
    `INSERT INTO checkout_sessions (id, account_id, livemode, status, amount_total_cents, line_items, metadata, expires_at)
     SELECT copy, account_id, livemode, status, amount_total_cents, line_items, metadata, expires_at
     FROM checkout_sessions, unnest(?::text[]) copy WHERE id = ?`,
    [ids, first],
  );
  return [first, ...ids];
}

function heavyItems(count: number): LineItem[] {
  return Array.from({ length: count }, (_, index) => ({
    id: newId('li_'),
    name: `Item ${index} – “é”`,
    description: null,
    images: Array.from({ length: IMAGES }, (_image, image) => `${IMAGE}${index}.${image}`),
    unitAmountCents: index,
    quantity: 1,
  }));
}
