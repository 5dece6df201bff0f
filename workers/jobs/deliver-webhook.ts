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

const NOTHING: Batch = { deliveries: [], left: 'nothing' };

/**
 * Delivers the due deliveries to an account's endpoints. A job is a notification: it takes deliveries, starts their tries
 * and ends before they do, so that receivers that hang occupy no job of the queue. Postgres limits the tries in flight to an
 * endpoint over all workers; accounts and hosts share the slots of each process.
 *
 * An account may be
 * - taking: a transaction takes due deliveries for it, one transaction at a time. Each delivery starts a try in a slot;
 * - waiting: it takes as soon as this process has a free slot for it;
 * - backlogged: due deliveries were left. It waits when a try of it ends or one of its endpoints gets more slots.
 *
 * A try that succeeds passes its slots on to the next due deliveries of its endpoint, unless an account waits for them.
 */
export class Deliverer implements Closable {
  readonly #deps: WorkerDeps;
  readonly #sender: Sender;
  readonly #openSecrets: OpenSecrets;
  readonly #slots: ProcessSlots;
  readonly #adaptive = new AdaptiveConcurrency();
  readonly #taking = oneAtATime((accountId) => this.#take(accountId));
  readonly #inFlight = new Set<Promise<void>>();
  readonly #backlogged = new Set<string>();
  /** Longest waiting first. */
  readonly #waiting = new Set<string>();
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
      this.#waiting.add(accountId);
      return;
    }
    // The slots count as taken until the taken deliveries have slots of their own.
    const release = this.#slots.take(accountId, undefined, allowance.slots);
    try {
      const { deliveries, left } = await takeDueDeliveries(this.#deps.db, accountId, allowance);
      if (left === 'now') this.#waiting.add(accountId);
      if (left === 'nothing') this.#backlogged.delete(accountId);
      else this.#backlogged.add(accountId);
      for (const delivery of deliveries) void this.#start(delivery);
    } finally {
      release();
    }
    this.#startWaiting();
  }

  #start(delivery: TakenDelivery): Promise<void> {
    const { accountId, host } = delivery.endpoint;
    const slots = this.#slots.slotsFor(delivery.bytes);
    const release = this.#slots.take(accountId, host, slots);
    const trying = this.#try(delivery, slots).then(({ deliveries, left }) => {
      this.#inFlight.delete(trying);
      release();
      for (const next of deliveries) void this.#start(next);
      if (left !== 'nothing') this.#backlogged.add(accountId);
      // Another endpoint of the account may have due deliveries.
      if (deliveries.length === 0) this.#waitIfBacklogged(accountId);
      this.#startWaiting();
    });
    this.#inFlight.add(trying);
    return trying;
  }

  /** Resolves with the deliveries that the try's slots were passed on to. */
  async #try(delivery: TakenDelivery, slots: number): Promise<Batch> {
    const bytesToPassOn = (): number =>
      this.#mayPassOn(delivery.endpoint.accountId) ? slots * this.#slots.bytesPerSlot : 0;
    try {
      const onSuccess = (ms: number): void => this.#changeSlots(delivery.endpoint, ms);
      const tools = { sender: this.#sender, openSecrets: this.#openSecrets, bytesToPassOn, onSuccess };
      return (await tryDelivery(this.#deps, tools, delivery)) ?? NOTHING;
    } catch (error) {
      // The lease expires, and the delivery is tried again.
      this.#deps.logger.error({ event: 'delivery.not_recorded', delivery: delivery.id, err: error });
      return NOTHING;
    }
  }

  /** Runs in the background: the try does not wait for it. */
  #changeSlots(endpoint: TakenEndpoint, ms: number): void {
    const slots = this.#adaptive.afterSuccess(endpoint, ms);
    if (slots === undefined) return;
    const changing = changeSlots(this.#deps.db, endpoint, slots)
      .then((changed) => {
        if (changed) this.#waitIfBacklogged(endpoint.accountId);
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
    if (this.#isClosed || this.#waiting.has(accountId)) return false;
    return ![...this.#waiting].some(this.#slots.couldUseOneMore);
  }

  #waitIfBacklogged(accountId: string): void {
    if (this.#backlogged.has(accountId)) this.#waiting.add(accountId);
  }

  /** Starts every waiting account that may take a slot, all at the same time. */
  #startWaiting(): void {
    for (const accountId of this.#waiting) {
      if (this.#slots.allowanceOf(accountId, 1).slots === 0) continue;
      this.#waiting.delete(accountId);
      this.#startDelivering(accountId);
    }
  }

  #startDelivering(accountId: string): void {
    this.deliverTo(accountId).catch((error: unknown) => {
      this.#deps.logger.error({ event: 'delivery.not_taken', account: accountId, err: error });
    });
  }
}
