/** Amounts by holder. A holder is kept only while its amount is not zero, so a tally never outgrows what is in use. */
export class Tally {
  readonly #amounts = new Map<string, number>();
  #sum = 0;

  get sum(): number {
    return this.#sum;
  }

  of(holder: string): number {
    return this.#amounts.get(holder) ?? 0;
  }

  add(holder: string, amount: number): void {
    const total = this.of(holder) + amount;
    this.#sum += amount;
    if (total === 0) this.#amounts.delete(holder);
    else this.#amounts.set(holder, total);
  }

  holders(): string[] {
    return [...this.#amounts.keys()];
  }
}
