import { batchPerTurn } from '../process/batch-per-turn.js';
import type { Logger } from '../process/logger.js';
import type { Queues } from './enqueue.js';

/** What one event, or the last of a batch, made due, and to whom. */
export interface FanOut {
  eventId: string;
  /** Of the endpoints. */
  accountIds: readonly string[];
}

export type NotifyDeliveries = (fanOut: FanOut) => void;

/**
 * Rings once for all that one turn of the event loop made due to an account, however many endpoints it has. Never fails
 * and keeps nobody waiting: a ring that is lost is made up for by the sweep. Who can take it here and now need not be rung for.
 */
export function deliveryNotifier(
  queues: Queues,
  logger: Logger,
  takeHere: (accountId: string) => boolean = () => false,
): NotifyDeliveries {
  function ring(accountId: string, eventId: string): void {
    const id = `${accountId}-${eventId}`;
    queues.enqueue({ name: 'deliver-webhook', payload: { accountId }, id }).catch((error: unknown) => {
      logger.warn({ event: 'queue.not_rung', account: accountId, err: error });
    });
  }

  return batchPerTurn((all) => {
    const lastEventOf = new Map(
      all.flatMap(({ eventId, accountIds }) => accountIds.map((accountId) => [accountId, eventId] as const)),
    );
    for (const [accountId, eventId] of lastEventOf) if (!takeHere(accountId)) ring(accountId, eventId);
  });
}

/** Where there is no queue at hand, the sweep finds what is due. */
export const leaveToSweep: NotifyDeliveries = () => {};
