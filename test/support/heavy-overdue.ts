import { buildSession, buildSessions } from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import type { Knex } from '../../shared/db/knex.js';
import { now } from '../../shared/process/clock.js';
import { newId } from '../../shared/values/ids.js';

/** The largest metadata: each character of a value takes six bytes in JSON. */
const fullMetadata = (): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: 50 }, (_, n) => [`key ${n}`.padEnd(40, '.'), '\u0001'.repeat(500)]),
  );

export async function buildHeavyOverdue(db: Knex, accountId: string, count: number): Promise<string[]> {
  const expiresAt = new Date(now().getTime() - 1);
  const { id: first } = await buildSession(db, accountId, { metadata: fullMetadata() });
  const others = await buildSessions(db, accountId, count - 1, {
    // Sessions are inserted without metadata, which Postgres then copies from the first session.
    clientReferenceId: newId('req_'),
    status: 'expired',
  });
  const ids = [first, ...others.map(({ id }) => id)];
  await db.raw(
    `UPDATE checkout_sessions SET metadata = (SELECT metadata FROM checkout_sessions WHERE id = ?) WHERE id = ANY (?)`,
    [first, ids],
  );
  await CheckoutSession.query(db).patch({ status: 'open', expiresAt }).whereIn('id', ids);
  return ids;
}
