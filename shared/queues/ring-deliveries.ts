import type { Logger } from '../logger.js';
import { collectForOneTurn } from '../one-turn.js';
import type { Queues } from './enqueue.js';

/** What one event, or the last of a batch, made due. */
export interface FanOut {
  eventId: string;
  endpointIds: readonly string[];
}

export type RingDeliveries = (fanOut: FanOut) => void;

/**
 * Rings once for all that one turn of the event loop made due at an endpoint. Never fails and keeps nobody waiting: a
 * ring that is lost is made up for by the sweep.
 */
export function deliveryBell(queues: Queues, logger: Logger): RingDeliveries {
  function ring(endpointId: string, eventId: string): void {
    const id = `${endpointId}-${eventId}`;
    queues.enqueue({ name: 'deliver-webhook', payload: { endpointId }, id }).catch((error: unknown) => {
      logger.warn({ event: 'queue.not_rung', endpoint: endpointId, err: error });
    });
  }

  return collectForOneTurn((all) => {
    const lastEventOf = new Map(
      all.flatMap(({ eventId, endpointIds }) =>
        endpointIds.map((endpointId) => [endpointId, eventId] as const),
      ),
    );
    for (const [endpointId, eventId] of lastEventOf) ring(endpointId, eventId);
  });
}

/** Where there is no queue at hand, the sweep finds what is due. */
export const leaveToSweep: RingDeliveries = () => {};
