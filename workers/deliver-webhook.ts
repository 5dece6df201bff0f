import {
  type Batch,
  type TakenDelivery,
  type TakenEndpoint,
  takeDueDeliveries,
} from '../shared/services/webhooks/take-due.js';
import type { Closable } from '../shared/shutdown.js';
import type { WorkerDeps } from './deps.js';
import { oneAtATime } from './webhook-delivery/one-at-a-time.js';
import { createWebhookSender } from './webhook-delivery/post.js';
import { tryDelivery } from './webhook-delivery/try-delivery.js';

/**
 * Delivers what is due to an endpoint. A job is a doorbell: it takes what may be sent now and is done, while the tries
 * go on beside it, so that receivers that hang occupy no place of the queue. When a try ends, the next that is due to
 * its endpoint is taken. Taking, in Postgres, keeps each endpoint to its number of tries in flight over all workers.
 */
export interface Deliverer extends Closable {
  /** Takes what is due; the tries go on. */
  deliverTo(endpointId: string): Promise<void>;
}

/** Tries on their way in one process, for each place of the queue, and how many there may be in any case. */
const TRIES_PER_PLACE = 10;
const LEAST_TRIES = 100;

export function createDeliverer(deps: WorkerDeps): Deliverer {
  const { config, db, logger } = deps;
  const sender = createWebhookSender({ allowPrivateNetworks: config.allowPrivateWebhooks });
  const maxTries = Math.max(LEAST_TRIES, config.workerConcurrency * TRIES_PER_PLACE);
  const onTheirWay = new Set<Promise<void>>();
  /** Endpoints that have more due than may be on its way to them. */
  const waiting = new Set<string>();
  /** Endpoints for which there was no place here; the first comes first, whoever's try made room. */
  const inLine = new Set<string>();
  let closed = false;

  const taking = oneAtATime(take);

  async function take(endpointId: string): Promise<void> {
    if (closed) return;
    const places = maxTries - onTheirWay.size;
    if (places <= 0) {
      inLine.add(endpointId);
      return;
    }
    const batch = await takeDueDeliveries(db, endpointId, places);
    if (batch === undefined) waiting.delete(endpointId);
    else startAll(batch);
  }

  function startAll({ endpoint, deliveries, isFull }: Batch): void {
    if (isFull) waiting.add(endpoint.id);
    else waiting.delete(endpoint.id);
    for (const delivery of deliveries) start(endpoint, delivery);
  }

  function start(endpoint: TakenEndpoint, delivery: TakenDelivery): void {
    const trying = tryDelivery(deps, { sender, mayPassOn }, endpoint, delivery)
      .catch((error: unknown) => {
        // Its lease runs out, and it is tried again.
        logger.error({ event: 'delivery.not_recorded', delivery: delivery.id, err: error });
      })
      .then(async (inItsPlace) => {
        onTheirWay.delete(trying);
        if (inItsPlace !== undefined) startAll(inItsPlace);
        else if (waiting.has(endpoint.id)) inLine.add(endpoint.id);
        await serveLine();
      })
      .catch((error: unknown) =>
        logger.error({ event: 'delivery.not_taken', endpoint: endpoint.id, err: error }),
      );
    onTheirWay.add(trying);
  }

  /** Its place to the next of the same endpoint: not when others stand in line, or it is time to stop. */
  function mayPassOn(): boolean {
    return !closed && inLine.size === 0;
  }

  async function serveLine(): Promise<void> {
    for (const endpointId of inLine) {
      if (onTheirWay.size >= maxTries) return;
      inLine.delete(endpointId);
      await taking.run(endpointId);
    }
  }

  return {
    deliverTo: taking.run,
    async close() {
      closed = true;
      // What was being taken has tries that are to end, too.
      await taking.ended();
      // So are those that were just being taken in the place of others.
      while (onTheirWay.size > 0) await Promise.all(onTheirWay);
      await sender.close();
    },
  };
}
