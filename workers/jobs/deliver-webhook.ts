import type { Closable } from '../../shared/process/shutdown.js';
import { changeSlots } from '../../shared/webhooks/change-slots.js';
import {
  type Batch,
  type TakenDelivery,
  type TakenEndpoint,
  takeDueDeliveries,
} from '../../shared/webhooks/take-due.js';
import { takeQuarantinedDelivery } from '../../shared/webhooks/take-quarantined.js';
import type { WorkerDeps } from '../deps/deps.js';
import { AdaptiveConcurrency } from '../webhook-delivery/adaptive-concurrency.js';
import { oneAtATime } from '../webhook-delivery/one-at-a-time.js';
import { type OpenSecrets, secretOpener } from '../webhook-delivery/open-secrets.js';
import { createWebhookSender, type WebhookSender } from '../webhook-delivery/post.js';
import { openSlots, type Slots } from '../webhook-delivery/slots.js';
import { tryDelivery } from '../webhook-delivery/try-delivery.js';

/** Tries in flight in one process, for each of WORKER_CONCURRENCY jobs; and the least there may be. */
const SLOTS_PER_JOB = 20;
const LEAST_SLOTS_IN_ALL = 200;
/** Slots that an account takes in one turn: other accounts have their turn before it takes more. */
const TAKEN_AT_ONCE = 20;

/**
 * Delivers what is due to the endpoints of an account. A job is a notification: it takes what may be sent now and ends, while
 * the tries go on beside it, so that receivers that hang occupy no job of the queue. When a try ends, its slot goes to the
 * next delivery that is due to its endpoint, or to an account that waits. Taking, in Postgres, limits the tries in flight to
 * an endpoint over all workers; accounts and hosts share the slots of each process.
 */
export class Deliverer implements Closable {
  readonly #deps: WorkerDeps;
  readonly #sender: WebhookSender;
  readonly #openSecrets: OpenSecrets;
  readonly #slots: Slots;
  readonly #adaptive = new AdaptiveConcurrency();
  readonly #taking = oneAtATime((accountId) => this.#take(accountId));
  readonly #inFlight = new Set<Promise<void>>();
  /** Accounts with more due than may be in flight to their endpoints and hosts. */
  readonly #backlogged = new Set<string>();
  /** Accounts that wait for a slot of this process. Of those that may have one, the longest waiting is first. */
  readonly #queue = new Set<string>();
  #isClosed = false;

  constructor(deps: WorkerDeps) {
    const { allowPrivateWebhooks, workerConcurrency } = deps.config;
    this.#deps = deps;
    this.#sender = createWebhookSender({ allowPrivateNetworks: allowPrivateWebhooks });
    this.#openSecrets = secretOpener(deps);
    this.#slots = openSlots(Math.max(LEAST_SLOTS_IN_ALL, workerConcurrency * SLOTS_PER_JOB));
  }

  /** Takes what is due; the tries go on. */
  deliverTo(accountId: string): Promise<void> {
    return this.#taking.run(accountId);
  }

  /** The same beside the caller. False when there is no slot for the account here: another process may have one. */
  takeHere(accountId: string): boolean {
    if (this.#isClosed || this.#slots.roomOf(accountId, 1).slots === 0) return false;
    this.#deliverBeside(accountId);
    return true;
  }

  /** Tries a delivery that workers have crashed with; resolves when the try has ended. */
  async deliverQuarantined(id: string): Promise<void> {
    const delivery = this.#isClosed ? undefined : await takeQuarantinedDelivery(this.#deps.db, id);
    if (delivery !== undefined) await this.#start(delivery);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Deliveries that were being taken have started tries, which end too.
    await this.#taking.ended();
    // A try that ends may have started the next one in its slot.
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
    await this.#sender.close();
  }

  async #take(accountId: string): Promise<void> {
    if (this.#isClosed) return;
    const room = this.#slots.roomOf(accountId, TAKEN_AT_ONCE);
    if (room.slots === 0) {
      this.#queue.add(accountId);
      return;
    }
    // Until it is known what they are for, the slots count as taken.
    const release = this.#slots.take(accountId, undefined, room.slots);
    try {
      this.#startAll(accountId, await takeDueDeliveries(this.#deps.db, accountId, room));
    } finally {
      release();
    }
    this.#startWaiting();
  }

  #startAll(accountId: string, { deliveries, left }: Batch): void {
    if (left === 'now') this.#queue.add(accountId);
    if (left === 'nothing') this.#backlogged.delete(accountId);
    else this.#backlogged.add(accountId);
    for (const delivery of deliveries) void this.#start(delivery);
  }

  #start(delivery: TakenDelivery): Promise<void> {
    const { accountId, host } = delivery.endpoint;
    const slots = this.#slots.slotsFor(delivery.bytes);
    const release = this.#slots.take(accountId, host, slots);
    const trying = this.#try(delivery, slots).then((next) => {
      this.#inFlight.delete(trying);
      release();
      if (next !== undefined) this.#passOn(accountId, next);
      else if (this.#backlogged.has(accountId)) this.#queue.add(accountId);
      this.#startWaiting();
    });
    this.#inFlight.add(trying);
    return trying;
  }

  /** Resolves with what was taken into its slots, when these were passed on. */
  async #try(delivery: TakenDelivery, slots: number): Promise<Batch | undefined> {
    const bytesToPassOn = (): number =>
      this.#mayPassOn(delivery.endpoint.accountId) ? slots * this.#slots.bytesPerSlot : 0;
    try {
      const succeeded = (ms: number): void => this.#changeSlots(delivery.endpoint, ms);
      const [sender, openSecrets] = [this.#sender, this.#openSecrets];
      return await tryDelivery(this.#deps, { sender, openSecrets, bytesToPassOn, succeeded }, delivery);
    } catch (error) {
      // The lease expires, and the delivery is tried again.
      this.#deps.logger.error({ event: 'delivery.not_recorded', delivery: delivery.id, err: error });
      return undefined;
    }
  }

  /** Beside the try, which does not wait for it. */
  #changeSlots(endpoint: TakenEndpoint, ms: number): void {
    const slots = this.#adaptive.afterSuccess(endpoint, ms);
    if (slots === undefined) return;
    const changing = changeSlots(this.#deps.db, endpoint, slots)
      .then((changed) => {
        if (changed && this.#backlogged.has(endpoint.accountId)) this.#queue.add(endpoint.accountId);
      })
      .catch((error: unknown) => {
        this.#deps.logger.warn({ event: 'delivery.places_not_changed', endpoint: endpoint.id, err: error });
      })
      .then(() => {
        this.#inFlight.delete(changing);
        this.#startWaiting();
      });
    this.#inFlight.add(changing);
  }

  /** Whether a slot goes to the next delivery of the same endpoint: not when another waiting account could use it. */
  #mayPassOn(accountId: string): boolean {
    if (this.#isClosed || this.#queue.has(accountId)) return false;
    return ![...this.#queue].some(this.#slots.couldUseOneMore);
  }

  /** Where nothing is due to the endpoint, another endpoint of the account may have something due. */
  #passOn(accountId: string, { deliveries, left }: Batch): void {
    for (const delivery of deliveries) void this.#start(delivery);
    if (left !== 'nothing') this.#backlogged.add(accountId);
    if (deliveries.length === 0 && this.#backlogged.has(accountId)) this.#queue.add(accountId);
  }

  /** Starts every waiting account that has room, all at the same time. */
  #startWaiting(): void {
    for (const accountId of this.#queue) {
      if (this.#slots.roomOf(accountId, 1).slots === 0) continue;
      this.#queue.delete(accountId);
      this.#deliverBeside(accountId);
    }
  }

  #deliverBeside(accountId: string): void {
    this.deliverTo(accountId).catch((error: unknown) => {
      this.#deps.logger.error({ event: 'delivery.not_taken', account: accountId, err: error });
    });
  }
}
