import { batchPerTurn } from '../process/batch-per-turn.js';
import type { Logger } from '../process/logger.js';
import type { Queues } from './enqueue.js';

/** Deliveries that an event, or the last event of a batch, has made due. */
interface FanOut {
  eventId: string;
  /** The accounts of the endpoints. */
  accountIds: readonly string[];
}

export type NotifyDeliveries = (fanOut: FanOut) => void;

/**
 * Enqueues one job per account for the deliveries of one turn of the event loop. Never fails and never waits: the sweep
 * finds the deliveries of a lost job. A worker process passes `deliverHere`, which delivers without a job, or returns
 * false when the process has no free slot.
 */
export function deliveryNotifier(
  queues: Queues,
  logger: Logger,
  deliverHere: (accountId: string) => boolean = () => false,
): NotifyDeliveries {
  function enqueue(accountId: string, eventId: string): void {
    const id = `${accountId}-${eventId}`;
    queues.enqueue({ name: 'deliver-webhook', payload: { accountId }, id }).catch((error: unknown) => {
      logger.warn({ event: 'queue.job_not_added', account: accountId, err: error });
    });
  }

  return batchPerTurn((all) => {
    const lastEventOf = new Map(
      all.flatMap(({ eventId, accountIds }) => accountIds.map((accountId) => [accountId, eventId] as const)),
    );
    for (const [accountId, eventId] of lastEventOf) if (!deliverHere(accountId)) enqueue(accountId, eventId);
  });
}

/** The notifier of processes without a queue: the sweep finds due deliveries. */
export const leaveToSweep: NotifyDeliveries = () => {};
