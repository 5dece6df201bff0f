import type { Closable } from '../../shared/process/shutdown.js';
import { changePlaces } from '../../shared/webhooks/change-places.js';
import {
  type Batch,
  type TakenDelivery,
  type TakenEndpoint,
  takeDueDeliveries,
} from '../../shared/webhooks/take-due.js';
import { takeQuarantinedDelivery } from '../../shared/webhooks/take-quarantined.js';
import type { WorkerDeps } from '../deps/deps.js';
import { oneAtATime } from '../webhook-delivery/one-at-a-time.js';
import { type OpenSecrets, secretOpener } from '../webhook-delivery/open-secrets.js';
import { Pace } from '../webhook-delivery/pace.js';
import { openPlaces, type Places } from '../webhook-delivery/places.js';
import { createWebhookSender, type WebhookSender } from '../webhook-delivery/post.js';
import { tryDelivery } from '../webhook-delivery/try-delivery.js';

/** Tries on their way in one process, for each place of the queue, and how many there may be in any case. */
const TRIES_PER_PLACE = 20;
const LEAST_TRIES = 200;
/** Of one account's turn: others have theirs before it has the next. */
const TAKEN_AT_ONCE = 20;

/**
 * Delivers what is due to the endpoints of an account. A job is a doorbell: it takes what may be sent now and is done,
 * while the tries go on beside it, so that receivers that hang occupy no place of the queue. When a try ends, its place
 * goes to the next that is due to its endpoint, or to whoever stands in line. Taking, in Postgres, keeps each endpoint to
 * its number of tries in flight over all workers; accounts and hosts share the places of each process.
 */
export class Deliverer implements Closable {
  readonly #deps: WorkerDeps;
  readonly #sender: WebhookSender;
  readonly #openSecrets: OpenSecrets;
  readonly #places: Places;
  readonly #pace = new Pace();
  readonly #taking = oneAtATime((accountId) => this.#take(accountId));
  readonly #onTheirWay = new Set<Promise<void>>();
  /** Accounts that have more due than may be on its way to their endpoints and hosts. */
  readonly #waiting = new Set<string>();
  /** Accounts for which there was no place here; of those that may have one, the first comes first. */
  readonly #inLine = new Set<string>();
  #isClosed = false;

  constructor(deps: WorkerDeps) {
    const { allowPrivateWebhooks, workerConcurrency } = deps.config;
    this.#deps = deps;
    this.#sender = createWebhookSender({ allowPrivateNetworks: allowPrivateWebhooks });
    this.#openSecrets = secretOpener(deps);
    this.#places = openPlaces(Math.max(LEAST_TRIES, workerConcurrency * TRIES_PER_PLACE));
  }

  /** Takes what is due; the tries go on. */
  deliverTo(accountId: string): Promise<void> {
    return this.#taking.run(accountId);
  }

  /** The same beside the caller, unless there is no place for it here: then false, and another process may have one. */
  takeHere(accountId: string): boolean {
    if (this.#isClosed || this.#places.roomOf(accountId, 1).places === 0) return false;
    this.#deliverBeside(accountId);
    return true;
  }

  /** Tries one that workers have died with, and is done when that is. */
  async deliverQuarantined(id: string): Promise<void> {
    const delivery = this.#isClosed ? undefined : await takeQuarantinedDelivery(this.#deps.db, id);
    if (delivery !== undefined) await this.#start(delivery);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // What was being taken has tries that are to end, too.
    await this.#taking.ended();
    // So are those that were just being taken in the place of others.
    while (this.#onTheirWay.size > 0) await Promise.all(this.#onTheirWay);
    await this.#sender.close();
  }

  async #take(accountId: string): Promise<void> {
    if (this.#isClosed) return;
    const room = this.#places.roomOf(accountId, TAKEN_AT_ONCE);
    if (room.places === 0) {
      this.#inLine.add(accountId);
      return;
    }
    // Who takes meanwhile finds them taken.
    const giveBack = this.#places.hold(accountId, undefined, room.places);
    try {
      this.#startAll(accountId, await takeDueDeliveries(this.#deps.db, accountId, room));
    } finally {
      giveBack();
    }
    this.#serveLine();
  }

  #startAll(accountId: string, { deliveries, left }: Batch): void {
    if (left === 'now') this.#inLine.add(accountId);
    if (left === 'nothing') this.#waiting.delete(accountId);
    else this.#waiting.add(accountId);
    for (const delivery of deliveries) void this.#start(delivery);
  }

  #start(delivery: TakenDelivery): Promise<void> {
    const { accountId, host } = delivery.endpoint;
    const weight = this.#places.weightOf(delivery.bytes);
    const giveBack = this.#places.hold(accountId, host, weight);
    const trying = this.#try(delivery, weight).then((inItsPlace) => {
      this.#onTheirWay.delete(trying);
      giveBack();
      if (inItsPlace !== undefined) this.#passOn(accountId, inItsPlace);
      else if (this.#waiting.has(accountId)) this.#inLine.add(accountId);
      this.#serveLine();
    });
    this.#onTheirWay.add(trying);
    return trying;
  }

  /** What was taken in its place, when its place was passed on. */
  async #try(delivery: TakenDelivery, weight: number): Promise<Batch | undefined> {
    const bytesToPassOn = (): number =>
      this.#mayPassOn(delivery.endpoint.accountId) ? weight * this.#places.bytesOfOne : 0;
    try {
      const succeeded = (ms: number): void => this.#changePlaces(delivery.endpoint, ms);
      const [sender, openSecrets] = [this.#sender, this.#openSecrets];
      return await tryDelivery(this.#deps, { sender, openSecrets, bytesToPassOn, succeeded }, delivery);
    } catch (error) {
      // Its lease runs out, and it is tried again.
      this.#deps.logger.error({ event: 'delivery.not_recorded', delivery: delivery.id, err: error });
      return undefined;
    }
  }

  /** Beside the try: nobody waits for it. */
  #changePlaces(endpoint: TakenEndpoint, ms: number): void {
    const places = this.#pace.after(endpoint, ms);
    if (places === undefined) return;
    const changing = changePlaces(this.#deps.db, endpoint, places)
      .then((changed) => {
        if (changed && this.#waiting.has(endpoint.accountId)) this.#inLine.add(endpoint.accountId);
      })
      .catch((error: unknown) => {
        this.#deps.logger.warn({ event: 'delivery.places_not_changed', endpoint: endpoint.id, err: error });
      })
      .then(() => {
        this.#onTheirWay.delete(changing);
        this.#serveLine();
      });
    this.#onTheirWay.add(changing);
  }

  /** Its place to the next of the same endpoint: not when others in line may have it, or it is time to stop. */
  #mayPassOn(accountId: string): boolean {
    if (this.#isClosed || this.#inLine.has(accountId)) return false;
    return ![...this.#inLine].some(this.#places.couldUseOneMore);
  }

  /** Nothing more for its endpoint may still be something for another of the account. */
  #passOn(accountId: string, { deliveries, left }: Batch): void {
    for (const delivery of deliveries) void this.#start(delivery);
    if (left !== 'nothing') this.#waiting.add(accountId);
    if (deliveries.length === 0 && this.#waiting.has(accountId)) this.#inLine.add(accountId);
  }

  /** All that may have something, at the same time. */
  #serveLine(): void {
    for (const accountId of this.#inLine) {
      if (this.#places.roomOf(accountId, 1).places === 0) continue;
      this.#inLine.delete(accountId);
      this.#deliverBeside(accountId);
    }
  }

  #deliverBeside(accountId: string): void {
    this.deliverTo(accountId).catch((error: unknown) => {
      this.#deps.logger.error({ event: 'delivery.not_taken', account: accountId, err: error });
    });
  }
}
