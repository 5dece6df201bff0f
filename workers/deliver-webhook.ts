import { takeDeliveryApart } from '../shared/services/webhooks/take-apart.js';
import { type Batch, type TakenDelivery, takeDueDeliveries } from '../shared/services/webhooks/take-due.js';
import type { Closable } from '../shared/shutdown.js';
import type { WorkerDeps } from './deps.js';
import { oneAtATime } from './webhook-delivery/one-at-a-time.js';
import { openPlaces } from './webhook-delivery/places.js';
import { createWebhookSender } from './webhook-delivery/post.js';
import { tryDelivery } from './webhook-delivery/try-delivery.js';

/**
 * Delivers what is due to the endpoints of an account. A job is a doorbell: it takes what may be sent now and is done,
 * while the tries go on beside it, so that receivers that hang occupy no place of the queue. When a try ends, its place
 * goes to the next that is due to its endpoint, or to whoever stands in line. Taking, in Postgres, keeps each endpoint to
 * its number of tries in flight over all workers; accounts and hosts share the places of each process.
 */
export interface Deliverer extends Closable {
  /** Takes what is due; the tries go on. */
  deliverTo(accountId: string): Promise<void>;
  /** Tries one that workers have died with, and is done when that is. */
  deliverApart(id: string): Promise<void>;
}

/** Tries on their way in one process, for each place of the queue, and how many there may be in any case. */
const TRIES_PER_PLACE = 20;
const LEAST_TRIES = 200;
/** Of one account's turn: others have theirs before it has the next. */
const TAKEN_AT_ONCE = 20;

export function createDeliverer(deps: WorkerDeps): Deliverer {
  const { config, db, logger } = deps;
  const sender = createWebhookSender({ allowPrivateNetworks: config.allowPrivateWebhooks });
  const places = openPlaces(Math.max(LEAST_TRIES, config.workerConcurrency * TRIES_PER_PLACE));
  const onTheirWay = new Set<Promise<void>>();
  /** Accounts that have more due than may be on its way to their endpoints and hosts. */
  const waiting = new Set<string>();
  /** Accounts for which there was no place here; of those that may have one, the first comes first. */
  const inLine = new Set<string>();
  let closed = false;

  const taking = oneAtATime(take);

  async function take(accountId: string): Promise<void> {
    if (closed) return;
    const room = places.roomOf(accountId, TAKEN_AT_ONCE);
    if (room.places === 0) {
      inLine.add(accountId);
      return;
    }
    // Who takes meanwhile finds them taken.
    const giveBack = places.hold(accountId, undefined, room.places);
    try {
      startAll(accountId, await takeDueDeliveries(db, accountId, room));
    } finally {
      giveBack();
    }
    serveLine();
  }

  function startAll(accountId: string, { deliveries, left }: Batch): void {
    if (left === 'now') inLine.add(accountId);
    if (left === 'nothing') waiting.delete(accountId);
    else waiting.add(accountId);
    for (const delivery of deliveries) void start(delivery);
  }

  function start(delivery: TakenDelivery): Promise<void> {
    const { accountId, host } = delivery.endpoint;
    const weight = places.weightOf(delivery.bytes);
    const giveBack = places.hold(accountId, host, weight);
    const bytesToPassOn = (): number => (mayPassOn(accountId) ? weight * places.bytesOfOne : 0);
    const trying = tryDelivery(deps, { sender, bytesToPassOn }, delivery)
      .catch((error: unknown) => {
        // Its lease runs out, and it is tried again.
        logger.error({ event: 'delivery.not_recorded', delivery: delivery.id, err: error });
      })
      .then((inItsPlace) => {
        onTheirWay.delete(trying);
        giveBack();
        if (inItsPlace !== undefined) passOn(accountId, inItsPlace);
        else if (waiting.has(accountId)) inLine.add(accountId);
        serveLine();
      });
    onTheirWay.add(trying);
    return trying;
  }

  /** Its place to the next of the same endpoint: not when others in line may have it, or it is time to stop. */
  function mayPassOn(accountId: string): boolean {
    return !closed && !inLine.has(accountId) && ![...inLine].some(places.couldUseOneMore);
  }

  /** Nothing more for its endpoint may still be something for another of the account. */
  function passOn(accountId: string, { deliveries, left }: Batch): void {
    for (const delivery of deliveries) void start(delivery);
    if (left !== 'nothing') waiting.add(accountId);
    if (deliveries.length === 0 && waiting.has(accountId)) inLine.add(accountId);
  }

  /** All that may have something, at the same time. */
  function serveLine(): void {
    for (const accountId of inLine) {
      if (places.roomOf(accountId, 1).places === 0) continue;
      inLine.delete(accountId);
      taking.run(accountId).catch((error: unknown) => {
        logger.error({ event: 'delivery.not_taken', account: accountId, err: error });
      });
    }
  }

  return {
    deliverTo: taking.run,
    async deliverApart(id) {
      const delivery = closed ? undefined : await takeDeliveryApart(db, id);
      if (delivery !== undefined) await start(delivery);
    },
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
