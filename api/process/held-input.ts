import { HELD_INPUT } from '../../shared/limits/bounds.js';

interface Holder {
  cut(): void;
}

/** Bytes of half-sent and waiting requests, by connection. Those who have held some for the longest time are cut first. */
export class HeldInput {
  readonly #limit: number;
  /** In the order in which they began to hold. */
  readonly #bytes = new Map<Holder, number>();
  #sum = 0;

  constructor(limit: number = HELD_INPUT.bytes) {
    this.#limit = limit;
  }

  set(holder: Holder, bytes: number): void {
    this.#sum += bytes - (this.#bytes.get(holder) ?? 0);
    if (bytes === 0) this.#bytes.delete(holder);
    else this.#bytes.set(holder, bytes);
    for (const [longest, held] of this.#bytes) {
      if (this.#sum <= this.#limit) return;
      this.#sum -= held;
      this.#bytes.delete(longest);
      longest.cut();
    }
  }
}
