import type { ChainCheck } from '../check/chain-check.js';
import { NoTurn } from '../check/unreadable.js';

/** A check at an endpoint. */
export interface Slot {
  check: ChainCheck;
  /** Unix milliseconds. */
  checkDeadline: number;
  /** No payment waits for the check. */
  inBackground: boolean;
  number: number;
  /** A call of the check was answered. The answer would be wasted if the check had to leave. */
  hasBegun: boolean;
  /** Ends each call of the check that waits or is in flight. */
  endCalls: Set<(reason: unknown) => void>;
}

export interface Turns {
  checkDeadline?: Date | undefined;
  inBackground?: boolean | undefined;
}

/** Checks that were sent away come back one every `everyMs`, the first after `afterMs`. */
interface ComeBack {
  afterMs: number;
  everyMs: number;
}

export interface SlotsOptions {
  /** How many checks may be in progress while the endpoint limits; beyond them the most urgent ones are. */
  checksWhileLimited?: number | undefined;
  comeBack?: ComeBack | undefined;
}

const CHECKS_WHILE_LIMITED = 10;
const COME_BACK: ComeBack = { afterMs: 1000, everyMs: 50 };

/** The checks in progress at one endpoint. Background checks take no slot, so that every slot is left to the others. */
export class EndpointSlots {
  readonly #slots = new Set<Slot>();
  readonly #most: number;
  readonly #comeBack: ComeBack;
  #lastNumber = 0;
  #lastBackAtMs = 0;

  constructor({ checksWhileLimited = CHECKS_WHILE_LIMITED, comeBack = COME_BACK }: SlotsOptions) {
    this.#most = checksWhileLimited;
    this.#comeBack = comeBack;
  }

  get taken(): number {
    return this.#slots.size;
  }

  /** While the endpoint limits and all slots are taken, the least urgent check that only waits leaves, or this one. */
  take(check: ChainCheck, { checkDeadline, inBackground = false }: Turns, isLimited: boolean): Slot {
    const slot: Slot = {
      check,
      checkDeadline: checkDeadline?.getTime() ?? Number.POSITIVE_INFINITY,
      inBackground,
      number: ++this.#lastNumber,
      hasBegun: false,
      endCalls: new Set(),
    };
    if (inBackground) return slot;
    if (isLimited && this.#slots.size >= this.#most) this.#makeRoomFor(slot);
    this.#slots.add(slot);
    return slot;
  }

  leave(slot: Slot): void {
    this.#slots.delete(slot);
  }

  sendAway(): NoTurn {
    const { afterMs, everyMs } = this.#comeBack;
    const atMs = performance.now();
    this.#lastBackAtMs = Math.max(this.#lastBackAtMs + everyMs, atMs + afterMs);
    return new NoTurn(Math.ceil(this.#lastBackAtMs - atMs));
  }

  #makeRoomFor(slot: Slot): void {
    const mayLeave = [...this.#slots].filter(({ check, hasBegun }) => check.isWaiting && !hasBegun);
    const [last] = mayLeave.sort((a, b) => byUrgency(b, a));
    if (last === undefined || byUrgency(last, slot) < 0) throw this.sendAway();
    last.check.cut(this.sendAway());
  }
}

/** The check whose window ends first; of equals, the check that began first; background checks last. */
export function byUrgency(one: Slot, other: Slot): number {
  if (one.inBackground !== other.inBackground) return one.inBackground ? 1 : -1;
  if (one.checkDeadline !== other.checkDeadline) return one.checkDeadline < other.checkDeadline ? -1 : 1;
  return one.number - other.number;
}
