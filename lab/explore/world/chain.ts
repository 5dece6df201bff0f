import { nowMs } from '../../../shared/process/clock.js';

/** A use of an authorization, landed or pending. */
interface Move {
  kind: 'pays' | 'cancels';
  nonce: string;
  transaction: string;
  /** The payment whose `/settle` has sent it; undefined when the owner did. */
  paymentId: string | undefined;
  validBeforeSeconds: number;
  /** The earliest time at which it gets into a block. */
  atMs: number;
}

export interface LandedMove extends Move {
  /** The time of its block, in Unix seconds. */
  block: number;
}

export const BLOCK_SECONDS = 2;

/**
 * A chain whose blocks have only times. An authorization is used once, in a block before its end. A halted chain
 * resumes where it stopped: pending transactions get into the next block, whose time follows the last one's.
 */
export class ModelChain {
  #pending: Move[] = [];
  readonly #landed = new Map<string, LandedMove>();
  #haltedAt: number | undefined;

  get isHalted(): boolean {
    return this.#haltedAt !== undefined;
  }

  /** The newest block's time. */
  head(): number {
    return this.#haltedAt ?? Math.floor(nowMs() / 1000 / BLOCK_SECONDS) * BLOCK_SECONDS;
  }

  send(move: Move): void {
    this.#pending.push(move);
    this.#pending.sort((a, b) => a.atMs - b.atMs);
  }

  halt(): void {
    this.#land();
    this.#haltedAt ??= this.head();
  }

  resume(): void {
    const haltedAt = this.#haltedAt;
    if (haltedAt === undefined) return;
    this.#haltedAt = undefined;
    const nextBlockMs = (haltedAt + BLOCK_SECONDS) * 1000;
    for (const move of this.#pending) if (move.atMs <= nowMs()) move.atMs = Math.min(move.atMs, nextBlockMs);
    this.#land();
  }

  /** The state at that block. */
  used(nonce: string, atBlock = this.head()): LandedMove | undefined {
    this.#land();
    const move = this.#landed.get(nonce);
    return move !== undefined && move.block <= atBlock ? move : undefined;
  }

  isPending(nonce: string): boolean {
    this.#land();
    return this.#pending.some((move) => move.nonce === nonce);
  }

  movements(): LandedMove[] {
    this.#land();
    return [...this.#landed.values()].filter(({ kind }) => kind === 'pays');
  }

  /** The time at which every sent transaction has landed or expired. */
  settledAtMs(): number {
    const last = this.#pending.at(-1)?.atMs ?? 0;
    return last + 2 * BLOCK_SECONDS * 1000;
  }

  #land(): void {
    const head = this.head();
    const later: Move[] = [];
    for (const move of this.#pending) {
      const block = Math.ceil(move.atMs / 1000 / BLOCK_SECONDS) * BLOCK_SECONDS;
      if (block > head) later.push(move);
      else if (!this.#landed.has(move.nonce) && block < move.validBeforeSeconds)
        this.#landed.set(move.nonce, { ...move, block });
    }
    this.#pending = later;
  }
}
