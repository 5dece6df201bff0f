/** A balancer asks for `/readyz` more often. */
const CHECKED_WITHIN_MS = 10_000;
/** Two or three balancers are usual; further addresses are not remembered. */
const MAX_BALANCERS = 32;

/** A balancer is known by the address from which it asks for `/readyz`. */
export interface Balancer {
  /** The time of its last request, by `performance.now()`. */
  askedAt: number;
  /** The time between its last two requests; 0 when it has asked once. */
  everyMs: number;
  /** How many times it was told that the process stops. */
  timesTold: number;
}

/** The balancers that route requests to this process: several when they stand in for each other. */
export class ReadinessChecks {
  readonly #balancers = new Map<string, Balancer>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Notes a request for `/readyz` from this address. Undefined when there are too many addresses. */
  note(address: string): Balancer | undefined {
    const isFull = this.balancers().length >= MAX_BALANCERS;
    const at = this.#nowMs();
    const known = this.#balancers.get(address);
    if (known !== undefined) {
      known.everyMs = at - known.askedAt;
      known.askedAt = at;
      return known;
    }
    if (isFull) return undefined;
    const balancer = { askedAt: at, everyMs: 0, timesTold: 0 };
    this.#balancers.set(address, balancer);
    return balancer;
  }

  /** The balancers that have asked lately; the others are forgotten. */
  balancers(): Balancer[] {
    const at = this.#nowMs();
    for (const [address, { askedAt }] of this.#balancers)
      if (at - askedAt > CHECKED_WITHIN_MS) this.#balancers.delete(address);
    return [...this.#balancers.values()];
  }
}
