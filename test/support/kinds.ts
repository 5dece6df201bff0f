import { buildRefund, buildSession } from '../../lab/world/shop/factories.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import type { Knex } from '../../shared/db/knex.js';
import type { Payable } from '../../shared/payables/model.js';
import { Event } from '../../shared/webhooks/model.js';

/** What can be paid at a link. What is promised of a payment is promised of both, and tried with both. */
export const KINDS = ['session', 'refund'] as const;
export type Kind = (typeof KINDS)[number];

/** With one network and token where a refund has no more. */
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

/** The moves that events have told, in a session's words; a session is silent about some that a refund tells. */
export async function toldMoves(db: Knex, payableId: string): Promise<string[]> {
  const events = await Event.query(db).where({ checkoutSessionId: payableId }).orderBy('id');
  return events.flatMap(({ type, object }) =>
    type === 'refund.updated' && 'status' in object ? (AS_OF_SESSION[String(object.status)] ?? []) : type,
  );
}

/** The same suite, once for each. */
export function describeBothKinds(title: string, suite: (kind: Kind) => void): void {
  for (const kind of KINDS) describe(`${title}, for a ${kind}`, () => suite(kind));
}
