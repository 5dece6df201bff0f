import { now } from '../shared/clock.js';
import { outlastOutage } from '../shared/db/outlast-outage.js';
import type { Payment } from '../shared/models/payment.js';
import type { WorkerDeps } from './deps.js';

/**
 * Writes what was learnt of a payment while it is still the taker's, though connections break: what the facilitator
 * said is known to nobody else. Each such write is guarded by the attempt and says where the payment goes.
 */
export async function writeOutcome<T>(
  { logger }: WorkerDeps,
  payment: Payment,
  write: () => Promise<T>,
): Promise<T> {
  const onBroken = (error: unknown): void =>
    logger.warn({ event: 'payment.written_again', payment: payment.id, err: error });
  return await outlastOutage({ until: payment.dueAt ?? now(), onBroken }, write);
}
