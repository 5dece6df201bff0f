import type { ChainCheck } from '../check/chain-check.js';
import { ChainUnreadable, isTooLong } from '../check/unreadable.js';
import { readRpcError } from '../rpc/rpc-error.js';

/** Public endpoints limit one log search to between 10 and 10,000 blocks. */
const MOST_BLOCKS = 5000;
/** A failure without a reason does not shrink the range below this, since fewer blocks may not help. */
const MIN_BLOCKS_AFTER_FAILURE = 10;
const FIRST_PATIENCE = 16;
const MOST_PATIENCE = 1024;

/**
 * How many blocks an endpoint takes in one log search: the number that its error names, or found by halving. The range
 * doubles after `patience` successes; an error after growth doubles `patience`.
 */
export class LogRange {
  #blocks = MOST_BLOCKS;
  #successes = 0;
  #patience = FIRST_PATIENCE;
  #hasGrown = false;

  get blocks(): number {
    return this.#blocks;
  }

  /** Searches from `oldest` on as many blocks as the endpoint takes at once, at most up to `newest`. */
  async search<T>(
    check: ChainCheck,
    { oldest, newest }: { oldest: number; newest: number },
    find: (last: number) => Promise<T>,
  ): Promise<{ found: T; upTo: number }> {
    for (;;) {
      check.requireTime();
      const asked = Math.min(this.#blocks, newest - oldest + 1);
      const upTo = oldest + asked - 1;
      try {
        const found = await find(upTo);
        this.#succeed();
        return { found, upTo };
      } catch (error) {
        this.#learnFrom(error, asked);
      }
    }
  }

  #succeed(): void {
    this.#successes += 1;
    if (this.#successes < this.#patience || this.#blocks === MOST_BLOCKS) return;
    this.#successes = 0;
    this.#blocks = Math.min(this.#blocks * 2, MOST_BLOCKS);
    this.#hasGrown = true;
  }

  /** Shrinks the range after a search of `asked` blocks that failed; throws when a shorter search would fail as well. */
  #learnFrom(error: unknown, asked: number): void {
    if (isTooLong(error) && asked > 1) {
      this.#refuse(asked, '');
      return;
    }
    const { kind, message } = readRpcError(error);
    if (kind === 'failed') this.#fail(asked);
    if (kind !== 'refused') throw error;
    if (asked === 1) throw new ChainUnreadable('the endpoint refuses to search for logs');
    this.#refuse(asked, message);
  }

  /** Shrinks the range to the number that the error names, or to half. */
  #refuse(asked: number, message: string): void {
    if (this.#hasGrown) this.#patience = Math.min(this.#patience * 2, MOST_PATIENCE);
    this.#shrinkTo(allowedBlocks(message, asked) ?? Math.max(Math.floor(asked / 2), 1));
  }

  #fail(asked: number): void {
    const half = Math.floor(asked / 2);
    if (half >= MIN_BLOCKS_AFTER_FAILURE) this.#shrinkTo(half);
  }

  #shrinkTo(blocks: number): void {
    // A concurrent check may have shrunk it further.
    this.#blocks = Math.min(this.#blocks, blocks);
    this.#successes = 0;
    this.#hasGrown = false;
  }
}

/**
 * The largest number in the message below `asked`. A wrong guess is corrected by the next error, since the range always falls.
 */
function allowedBlocks(message: string, asked: number): number | undefined {
  const plain = message.replaceAll(/0x[\da-f]+/gi, '').replaceAll(/(?<=\d),(?=\d{3})/g, '');
  const numbers = [...plain.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  const allowed = numbers.filter((number) => number >= 1 && number < asked);
  return allowed.length === 0 ? undefined : Math.max(...allowed);
}
