import type { Logger } from '../logger.js';
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
  let dueAt = new Map<string, string>();

  function ring(endpointId: string, eventId: string): void {
    const id = `${endpointId}-${eventId}`;
    queues.enqueue({ name: 'deliver-webhook', payload: { endpointId }, id }).catch((error: unknown) => {
      logger.warn({ event: 'queue.not_rung', endpoint: endpointId, err: error });
    });
  }

  return ({ eventId, endpointIds }) => {
    if (dueAt.size === 0 && endpointIds.length > 0) {
      setImmediate(() => {
        const all = dueAt;
        dueAt = new Map();
        for (const [endpointId, lastEventId] of all) ring(endpointId, lastEventId);
      });
    }
    for (const endpointId of endpointIds) dueAt.set(endpointId, eventId);
  };
}

/** Where there is no queue at hand, the sweep finds what is due. */
export const leaveToSweep: RingDeliveries = () => {};
