import { HELD_INPUT } from '../../shared/limits/bounds.js';

interface Holder {
  cut(): void;
}

/**
 * Bytes of half-sent and waiting requests, by connection. Of the connections that hold at least the average, the connection
 * with the oldest bytes is cut first: short requests that wait for their turn in a flood of long ones take little room.
 */
export class HeldInput {
  readonly #limit: number;
  /** Bytes of each connection, in the order in which the connections began to hold some. */
  readonly #bytes = new Map<Holder, number>();
  #sum = 0;

  constructor(limit: number = HELD_INPUT.bytes) {
    this.#limit = limit;
  }

  set(holder: Holder, bytes: number): void {
    const before = this.#bytes.get(holder) ?? 0;
    if (bytes === before) return;
    this.#sum += bytes - before;
    if (bytes === 0) this.#bytes.delete(holder);
    else this.#bytes.set(holder, bytes);
    while (this.#sum > this.#limit) this.#cutOne();
  }

  #cutOne(): void {
    for (const [holder, bytes] of this.#bytes) {
      if (bytes * this.#bytes.size < this.#sum) continue;
      this.#sum -= bytes;
      this.#bytes.delete(holder);
      holder.cut();
      return;
    }
  }
}
