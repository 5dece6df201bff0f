import { buildRefund, buildSession } from '../../lab/world/shop/factories.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import type { Knex } from '../../shared/db/knex.js';
import type { Payable } from '../../shared/payables/model.js';
import { Event } from '../../shared/webhooks/model.js';

/** The two kinds of objects that a payment link can ask payment for; specs of payments run for both. */
export const KINDS = ['session', 'refund'] as const;
export type Kind = (typeof KINDS)[number];

/** A refund has one network and token, a session has several. */
export async function buildPayable(
  kind: Kind,
  db: Knex,
  accountId: string,
  overrides: Partial<CheckoutSession> = {},
): Promise<Payable> {
  if (kind === 'session') return await buildSession(db, accountId, overrides);
  return await buildRefund(db, accountId, overrides);
}

const AS_OF_SESSION: Record<string, string> = {
  succeeded: 'checkout.session.completed',
  canceled: 'checkout.session.expired',
};

/**
 * The events' types, a refund's translated to a session's; a refund's other events have no session equivalent and
 * are left out.
 */
export async function recordedMoves(db: Knex, payableId: string): Promise<string[]> {
  const events = await Event.query(db).where({ payableId: payableId }).orderBy('id');
  return events.flatMap(({ type, object }) =>
    type === 'refund.updated' && 'status' in object ? (AS_OF_SESSION[String(object.status)] ?? []) : type,
  );
}

/** Runs the same suite for each kind. */
export function describeBothKinds(title: string, suite: (kind: Kind) => void): void {
  for (const kind of KINDS) describe(`${title}, for a ${kind}`, () => suite(kind));
}
