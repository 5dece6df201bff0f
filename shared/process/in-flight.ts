interface Entry<T> {
  item: T;
  at: number;
}

/**
 * The items in flight, where each request comes and goes. A Set would say the same, but V8 replaces its table every so many
 * changes, and a replaced table keeps what it held and the table after it: once the first of them is old, everything that
 * was in flight meanwhile stays until the whole heap is collected.
 */
export class InFlight<T> {
  readonly #entries: Entry<T>[] = [];

  /** Returns what removes the item again, and says whether the item was still there. */
  add(item: T): () => boolean {
    const entries = this.#entries;
    const entry = { item, at: entries.length };
    entries.push(entry);
    return () => {
      if (entries[entry.at] !== entry) return false;
      const last = entries.pop() ?? entry;
      if (last !== entry) {
        entries[entry.at] = last;
        last.at = entry.at;
      }
      return true;
    };
  }

  /** At this moment. */
  all(): T[] {
    return this.#entries.map(({ item }) => item);
  }
}
