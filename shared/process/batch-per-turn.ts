/** Collects the items of one turn of the event loop and sends them as one batch at its end. */
export function batchPerTurn<Item>(send: (items: Item[]) => void): (item: Item) => void {
  let waiting: Item[] = [];
  return (item) => {
    waiting.push(item);
    if (waiting.length > 1) return;
    setImmediate(() => {
      const all = waiting;
      waiting = [];
      send(all);
    });
  };
}
