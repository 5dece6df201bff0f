/** The steps between states, to be followed backwards. */
export class ReverseGraph {
  readonly #from: number[] = [];
  readonly #to: number[] = [];

  add(from: number, to: number): void {
    if (from === to) return;
    this.#from.push(from);
    this.#to.push(to);
  }

  /** The first state from which no path leads to one of `ends`. */
  firstWithout(ends: readonly number[], states: number): number | undefined {
    const last = new Int32Array(states).fill(-1);
    const before = new Int32Array(this.#from.length);
    for (const [way, to] of this.#to.entries()) {
      before[way] = last[to] ?? -1;
      last[to] = way;
    }
    const leads = new Uint8Array(states);
    const reached = [...ends];
    for (const end of ends) leads[end] = 1;
    for (const state of reached)
      for (let way = last[state] ?? -1; way >= 0; way = before[way] ?? -1) {
        const from = this.#from[way] ?? 0;
        if (leads[from] === 1) continue;
        leads[from] = 1;
        reached.push(from);
      }
    const first = leads.indexOf(0);
    return first < 0 ? undefined : first;
  }
}
