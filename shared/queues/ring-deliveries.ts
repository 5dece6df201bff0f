import type { Logger } from '../logger.js';
import type { Queues } from './enqueue.js';

/** What one event, or the last of a batch, made due. */
export interface FanOut {
  eventId: string;
  endpointIds: readonly string[];
}

export type RingDeliveries = (fanOut: FanOut) => void;

/** Never fails and keeps nobody waiting: a ring that is lost is made up for by the sweep. */
export function deliveryBell(queues: Queues, logger: Logger): RingDeliveries {
  return ({ eventId, endpointIds }) => {
    for (const endpointId of endpointIds) {
      const job = {
        name: 'deliver-webhook' as const,
        payload: { endpointId },
        id: `${endpointId}-${eventId}`,
      };
      queues.enqueue(job).catch((error: unknown) => {
        logger.warn({ event: 'queue.not_rung', endpoint: endpointId, err: error });
      });
    }
  };
}

/** Where there is no queue at hand, the sweep finds what is due. */
export const leaveToSweep: RingDeliveries = () => {};
