import { raw } from 'objection';
import { DURABLE_COMMIT } from '../db/durable-commit.js';
import type { Knex } from '../db/knex.js';
import { Payable } from '../payables/model.js';
import { Payment } from '../payments/model.js';

/** Writes that record offers and answers to buyers. They change no status. */

/** A buyer may pay an offered entry after the facilitator has changed its Solana fee payers. */
export async function recordOfferedFeePayers(
  db: Knex,
  id: string,
  feePayers: readonly string[],
): Promise<void> {
  // Each fee payer is stored once, also under concurrency: the row lock makes a later writer see the earlier one.
  const added = raw(
    `coalesce(offered_fee_payers, '{}') ||
     ARRAY (SELECT unnest(?::text[]) EXCEPT SELECT unnest(coalesce(offered_fee_payers, '{}')))`,
    [[...feePayers]],
  );
  await Payable.query(db).patch({ offeredFeePayers: added }).where('id', id);
}

/** Records that the buyer was answered 202, so a later GET reports a failure. False when the payment is decided by now. */
export async function markAnsweredProcessing(db: Knex, paymentId: string): Promise<boolean> {
  const marked = await Payment.query(db)
    .patch({ answeredProcessing: true })
    .where({ id: paymentId, status: 'processing' })
    .returning(raw(DURABLE_COMMIT));
  return marked.length === 1;
}
