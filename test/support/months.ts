import { buildPaidSession } from '../../lab/world/shop/factories.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import type { Knex } from '../../shared/db/knex.js';
import type { Payment } from '../../shared/payments/model.js';
import { advanceClock, resetClock } from '../../shared/process/clock.js';
import { newId } from '../../shared/values/ids.js';
import { type Month, startOf } from '../../shared/values/months.js';

/** Runs `make` with the clock in the middle of this month, so that ids belong to it. */
export async function inMonth<T>(month: Month, make: () => Promise<T>): Promise<T> {
  resetClock();
  advanceClock(startOf(month) + 15 * 24 * 3_600_000 - Date.now());
  try {
    return await make();
  } finally {
    resetClock();
  }
}

export interface PaidAndDelivered {
  session: CheckoutSession;
  payment: Payment;
  eventId: string;
  deliveryId: string;
}

/** A paid session with its event, which has been delivered. */
export async function buildPaidAndDelivered(
  db: Knex,
  {
    accountId,
    endpointId,
    payment: overrides,
  }: { accountId: string; endpointId: string; payment?: Partial<Payment> },
): Promise<PaidAndDelivered> {
  const { session, payment } = await buildPaidSession(db, accountId, overrides);
  const [eventId, deliveryId] = [newId('evt_'), newId('wd_')];
  await db('events').insert({
    id: eventId,
    accountId,
    livemode: session.livemode,
    type: 'checkout.session.completed',
    payableId: session.id,
    object: JSON.stringify({ id: session.id, words: 'a line\u2028 in it' }),
  });
  await db('webhookDeliveries').insert({ id: deliveryId, eventId, endpointId, status: 'succeeded' });
  return { session, payment, eventId, deliveryId };
}
