/** What public endpoints search at once differs from 10 to 10,000 blocks. */
const MOST_BLOCKS = 5000;
/** An endpoint that fails without a word has not said that fewer blocks would do. */
const FEWEST_UNASKED = 10;
const FIRST_PATIENCE = 16;
const MOST_PATIENCE = 1024;

/**
 * How many blocks an endpoint searches for logs at once: as it says, or found by halving. It grows again after
 * successes, more patiently each time that this was refused.
 */
export class LogRange {
  #blocks = MOST_BLOCKS;
  #successes = 0;
  #patience = FIRST_PATIENCE;
  #hasGrown = false;

  get blocks(): number {
    return this.#blocks;
  }

  succeed(): void {
    this.#successes += 1;
    if (this.#successes < this.#patience || this.#blocks === MOST_BLOCKS) return;
    this.#successes = 0;
    this.#blocks = Math.min(this.#blocks * 2, MOST_BLOCKS);
    this.#hasGrown = true;
  }

  /** By the number of blocks that the refusal names, or by half. */
  refuse(asked: number, words: string): void {
    if (this.#hasGrown) this.#patience = Math.min(this.#patience * 2, MOST_PATIENCE);
    this.#shrinkTo(allowedBlocks(words, asked) ?? Math.max(Math.floor(asked / 2), 1));
  }

  fail(asked: number): void {
    const half = Math.floor(asked / 2);
    if (half >= FEWEST_UNASKED) this.#shrinkTo(half);
  }

  #shrinkTo(blocks: number): void {
    // Another look may have learnt more in the meantime.
    this.#blocks = Math.min(this.#blocks, blocks);
    this.#successes = 0;
    this.#hasGrown = false;
  }
}

/** The largest number below what was asked: a wrong one is corrected by the next refusal, since it always falls. */
function allowedBlocks(words: string, asked: number): number | undefined {
  const plain = words.replaceAll(/0x[\da-f]+/gi, '').replaceAll(/(?<=\d),(?=\d{3})/g, '');
  const numbers = [...plain.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  const allowed = numbers.filter((number) => number >= 1 && number < asked);
  return allowed.length === 0 ? undefined : Math.max(...allowed);
}
