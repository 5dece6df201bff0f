import type { Closable } from '../../shared/process/shutdown.js';
import { changeSlots } from '../../shared/webhooks/slots.js';
import {
  type Batch,
  type TakenDelivery,
  type TakenEndpoint,
  takeDueDeliveries,
  takeQuarantinedDelivery,
} from '../../shared/webhooks/take-due.js';
import type { WorkerDeps } from '../deps/deps.js';
import { AdaptiveConcurrency } from '../webhook-delivery/adaptive-concurrency.js';
import { oneAtATime } from '../webhook-delivery/one-at-a-time.js';
import { type OpenSecrets, secretOpener } from '../webhook-delivery/open-secrets.js';
import { openProcessSlots, type ProcessSlots } from '../webhook-delivery/process-slots.js';
import type { Sender } from '../webhook-delivery/sender.js';
import { tryDelivery } from '../webhook-delivery/try-delivery.js';

/** The slots of a process are SLOTS_PER_JOB for each of WORKER_CONCURRENCY jobs, but at least LEAST_SLOTS_IN_ALL. */
const SLOTS_PER_JOB = 20;
const LEAST_SLOTS_IN_ALL = 200;
/** The most slots that an account takes in one turn. Other accounts have their turn before it takes more. */
const TAKEN_AT_ONCE = 20;

/**
 * Delivers the due deliveries to an account's endpoints. A job is a notification: it takes deliveries, starts their tries
 * and ends before they do, so that receivers that hang occupy no job of the queue. When a try ends, its slot goes to the
 * next due delivery of its endpoint, or to a waiting account. Postgres limits the tries in flight to an endpoint over all
 * workers; accounts and hosts share the slots of each process.
 */
export class Deliverer implements Closable {
  readonly #deps: WorkerDeps;
  readonly #sender: Sender;
  readonly #openSecrets: OpenSecrets;
  readonly #slots: ProcessSlots;
  readonly #adaptive = new AdaptiveConcurrency();
  readonly #taking = oneAtATime((accountId) => this.#take(accountId));
  readonly #inFlight = new Set<Promise<void>>();
  /** Accounts with more due deliveries than may be in flight to their endpoints and hosts. */
  readonly #backlogged = new Set<string>();
  /** Accounts that wait for a slot of this process, longest waiting first. */
  readonly #queue = new Set<string>();
  #isClosed = false;

  constructor(deps: WorkerDeps, sender: Sender) {
    const { workerConcurrency } = deps.config;
    this.#deps = deps;
    this.#sender = sender;
    this.#openSecrets = secretOpener(deps);
    this.#slots = openProcessSlots(Math.max(LEAST_SLOTS_IN_ALL, workerConcurrency * SLOTS_PER_JOB));
  }

  /** Resolves when the due deliveries are taken; their tries may still be in flight. */
  deliverTo(accountId: string): Promise<void> {
    return this.#taking.run(accountId);
  }

  /** Starts `deliverTo` without waiting for it. Returns false when this process has no slot for the account. */
  deliverHere(accountId: string): boolean {
    if (this.#isClosed || this.#slots.allowanceOf(accountId, 1).slots === 0) return false;
    this.#startDelivering(accountId);
    return true;
  }

  /** Tries a delivery that workers have crashed on; resolves when the try has ended. */
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
    const allowance = this.#slots.allowanceOf(accountId, TAKEN_AT_ONCE);
    if (allowance.slots === 0) {
      this.#queue.add(accountId);
      return;
    }
    // The slots count as taken until the taken deliveries have slots of their own.
    const release = this.#slots.take(accountId, undefined, allowance.slots);
    try {
      this.#startAll(accountId, await takeDueDeliveries(this.#deps.db, accountId, allowance));
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

  /** Resolves with the deliveries taken into the try's slots, when these were passed on. */
  async #try(delivery: TakenDelivery, slots: number): Promise<Batch | undefined> {
    const bytesToPassOn = (): number =>
      this.#mayPassOn(delivery.endpoint.accountId) ? slots * this.#slots.bytesPerSlot : 0;
    try {
      const onSuccess = (ms: number): void => this.#changeSlots(delivery.endpoint, ms);
      const tools = { sender: this.#sender, openSecrets: this.#openSecrets };
      return await tryDelivery(this.#deps, { ...tools, bytesToPassOn, onSuccess }, delivery);
    } catch (error) {
      // The lease expires, and the delivery is tried again.
      this.#deps.logger.error({ event: 'delivery.not_recorded', delivery: delivery.id, err: error });
      return undefined;
    }
  }

  /** Runs in the background: the try does not wait for it. */
  #changeSlots(endpoint: TakenEndpoint, ms: number): void {
    const slots = this.#adaptive.afterSuccess(endpoint, ms);
    if (slots === undefined) return;
    const changing = changeSlots(this.#deps.db, endpoint, slots)
      .then((changed) => {
        if (changed && this.#backlogged.has(endpoint.accountId)) this.#queue.add(endpoint.accountId);
      })
      .catch((error: unknown) => {
        this.#deps.logger.warn({ event: 'delivery.slots_not_changed', endpoint: endpoint.id, err: error });
      })
      .then(() => {
        this.#inFlight.delete(changing);
        this.#startWaiting();
      });
    this.#inFlight.add(changing);
  }

  /** A slot stays with its endpoint unless another waiting account could use it. */
  #mayPassOn(accountId: string): boolean {
    if (this.#isClosed || this.#queue.has(accountId)) return false;
    return ![...this.#queue].some(this.#slots.couldUseOneMore);
  }

  /** When the endpoint has no due delivery, another endpoint of the account may have one. */
  #passOn(accountId: string, { deliveries, left }: Batch): void {
    for (const delivery of deliveries) void this.#start(delivery);
    if (left !== 'nothing') this.#backlogged.add(accountId);
    if (deliveries.length === 0 && this.#backlogged.has(accountId)) this.#queue.add(accountId);
  }

  /** Starts every waiting account that may take a slot, all at the same time. */
  #startWaiting(): void {
    for (const accountId of this.#queue) {
      if (this.#slots.allowanceOf(accountId, 1).slots === 0) continue;
      this.#queue.delete(accountId);
      this.#startDelivering(accountId);
    }
  }

  #startDelivering(accountId: string): void {
    this.deliverTo(accountId).catch((error: unknown) => {
      this.#deps.logger.error({ event: 'delivery.not_taken', account: accountId, err: error });
    });
  }
}
