interface Place<T> {
  item: T;
  at: number;
}

/**
 * What is under way, where each request comes and goes. A Set would say the same, but V8 replaces its table every so many
 * changes, and a table that was replaced keeps what it held and the next one: once the first of them is old, all that was
 * under way meanwhile stays until the whole heap is collected.
 */
export class InFlight<T> {
  readonly #places: Place<T>[] = [];

  /** Returns what takes it out again, and says whether it was still there. */
  add(item: T): () => boolean {
    const places = this.#places;
    const place = { item, at: places.length };
    places.push(place);
    return () => {
      if (places[place.at] !== place) return false;
      const last = places.pop() ?? place;
      if (last !== place) {
        places[place.at] = last;
        last.at = place.at;
      }
      return true;
    };
  }

  /** At this moment. */
  all(): T[] {
    return this.#places.map(({ item }) => item);
  }
}
