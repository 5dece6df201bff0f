import { type Principal, requireActiveKey, whereKeyActive } from '../accounts/api-keys.js';
import { type AnswerRendering, renderAndStore } from '../accounts/idempotency.js';
import type { Knex } from '../db/knex.js';
import { noSuch, Refusal } from '../errors/refusal.js';
import { REFUND_STATUS_OF } from '../payables/refund-statuses.js';
import { PAYABLE_MOVES } from '../payables/states.js';
import type { EventDeps } from '../webhooks/events.js';
import { Refund } from './model.js';
import { recordRefundEvent } from './record-events.js';

/** A canceled refund has the status of an expired session: its link takes no payment. */
export async function cancelRefund(
  db: Knex,
  principal: Principal,
  id: string,
  events: EventDeps,
  rendering: AnswerRendering<Refund>,
): Promise<string> {
  const { accountId, livemode } = principal;
  const { from, to } = PAYABLE_MOVES.expire;
  return await db.transaction(async (trx) => {
    const own = { id, accountId, livemode };
    const move = Refund.query(trx).patch({ status: to }).where(own).whereIn('status', from).returning('*');
    const [refund] = await whereKeyActive(move, principal);
    if (refund === undefined) throw await whyNotCanceled(trx, principal, own);
    await recordRefundEvent(trx, 'refund.updated', refund, events);
    return await renderAndStore(trx, rendering, refund);
  });
}

async function whyNotCanceled(
  trx: Knex.Transaction,
  principal: Principal,
  own: { id: string; accountId: string; livemode: boolean },
): Promise<Refusal> {
  await requireActiveKey(trx, principal);
  const refund = await Refund.query(trx).findOne(own).select('status');
  if (refund === undefined) return noSuch('refund', own.id);
  return new Refusal(
    'refund_not_cancelable',
    `Only a refund with status requires_action can be canceled; this one is ${REFUND_STATUS_OF[refund.status]}.`,
    { param: 'id' },
  );
}
