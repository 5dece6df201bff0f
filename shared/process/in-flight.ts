interface Slot<T> {
  item: T;
  index: number;
}

/**
 * The items in flight. Not a Set: V8 replaces a Set's table after a number of changes, and a replaced table keeps
 * references to its entries and to the next table, so once one table is in old space, the items live until a full
 * collection.
 */
export class InFlight<T> {
  readonly #slots: Slot<T>[] = [];

  /** Returns a function that removes the item and says whether it was still there. */
  add(item: T): () => boolean {
    const slots = this.#slots;
    const slot = { item, index: slots.length };
    slots.push(slot);
    return () => {
      if (slots[slot.index] !== slot) return false;
      const last = slots.pop() ?? slot;
      if (last !== slot) {
        slots[slot.index] = last;
        last.index = slot.index;
      }
      return true;
    };
  }

  all(): T[] {
    return this.#slots.map(({ item }) => item);
  }
}
