import type { QueryBuilder } from 'objection';
import { type Principal, whereKeyActive } from '../accounts/api-keys.js';
import { type AnswerRendering, renderAndStore } from '../accounts/idempotency.js';
import type { Knex } from '../db/knex.js';
import { Refusal } from '../errors/refusal.js';
import { PAYABLE_MOVES } from '../payables/states.js';
import type { EventDeps } from '../webhooks/events.js';
import { CheckoutSession } from './model.js';
import { whyNoSession } from './read.js';
import { recordSessionEvents } from './record-events.js';

/** Expires an open session at its merchant's request. `settlement/expire-overdue.ts` expires those whose time is over. */
export async function expireCheckoutSession(
  db: Knex,
  principal: Principal,
  id: string,
  events: EventDeps,
  rendering: AnswerRendering<CheckoutSession>,
): Promise<string> {
  return await db.transaction(async (trx) => {
    const query = expire(trx).where({ id, accountId: principal.accountId, livemode: principal.livemode });
    const [session] = await whereKeyActive(query, principal);
    if (session === undefined) throw await whyNotExpired(trx, principal, id);
    await recordSessionEvents(trx, 'checkout.session.expired', [session], events);
    return await renderAndStore(trx, rendering, session);
  });
}

async function whyNotExpired(trx: Knex.Transaction, principal: Principal, id: string): Promise<Refusal> {
  const { accountId, livemode } = principal;
  const query = CheckoutSession.query(trx).where({ id, accountId, livemode }).select('status');
  const [session] = await whereKeyActive(query, principal);
  if (session === undefined) return await whyNoSession(trx, principal, id);
  return new Refusal(
    'checkout_session_not_open',
    `Only a checkout session with status open can be expired; this one is ${session.status}.`,
    { param: 'id' },
  );
}

function expire(trx: Knex.Transaction): QueryBuilder<CheckoutSession, CheckoutSession[]> {
  const { from, to } = PAYABLE_MOVES.expire;
  return CheckoutSession.query(trx).patch({ status: to }).whereIn('status', from).returning('*');
}
