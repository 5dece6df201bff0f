import { raw } from 'objection';
import type { Knex } from '../db/knex.js';
import { Payable } from '../payables/model.js';
import { Payment } from '../payments/model.js';

/** What a buyer was told is remembered, and moves nothing. */

/** So that a buyer may still pay what was offered after the facilitator has changed its fee payers. */
export async function rememberOfferedFeePayers(
  db: Knex,
  id: string,
  feePayers: readonly string[],
): Promise<void> {
  // Each once, also when many ask at the same time: the row's lock makes the later ones see the earlier.
  const added = raw(
    `coalesce(offered_fee_payers, '{}') ||
     ARRAY (SELECT unnest(?::text[]) EXCEPT SELECT unnest(coalesce(offered_fee_payers, '{}')))`,
    [[...feePayers]],
  );
  await Payable.query(db).patch({ offeredFeePayers: added }).where('id', id);
}

/** The buyer is told 202: how it ends will be told to a later GET. False when it is decided by now. */
export async function markAnsweredProcessing(db: Knex, paymentId: string): Promise<boolean> {
  const marked = await Payment.query(db)
    .patch({ answeredProcessing: true })
    .where({ id: paymentId, status: 'processing' });
  return marked === 1;
}
