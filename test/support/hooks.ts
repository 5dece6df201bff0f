/** The objects that each suite has opened, the newest first. */
const openIn = new WeakMap<Mocha.Suite, Closable[]>();

type Closable = { close?(): unknown };

/**
 * Registers a hook that opens something before the first test of a suite. It is closed after the suite's own `after`
 * hooks, the newest first. The result stands for what `open` returns, and is usable from the next hook on.
 */
export function forAllTests<T extends object>(open: () => T | Promise<T>): T {
  let opened: T | undefined;
  before(async function () {
    opened = await open();
    closeAtEndOf(this.test?.parent, opened);
  });
  return standInFor(() => {
    if (opened === undefined) throw new Error('its `before` hook has not run yet');
    return opened;
  });
}

function closeAtEndOf(suite: Mocha.Suite | undefined, opened: Closable): void {
  if (suite === undefined) throw new Error('called outside of a suite');
  const open = openIn.get(suite) ?? [];
  open.unshift(opened);
  if (openIn.has(suite)) return;
  openIn.set(suite, open);
  // Registered now, so that it runs after the hooks that the suite has registered while it was read.
  suite.afterAll(async () => {
    for (const one of open) await one.close?.();
  });
}

/** An object whose members are the current object's. */
function standInFor<T extends object>(current: () => T): T {
  return new Proxy({} as T, {
    get(_, name) {
      const value = Reflect.get(current(), name);
      // A class's method finds its private fields in the object itself.
      return typeof value === 'function' && !Object.hasOwn(current(), name) ? value.bind(current()) : value;
    },
    set: (_, name, value) => Reflect.set(current(), name, value),
    has: (_, name) => Reflect.has(current(), name),
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor: (_, name) => {
      const property = Reflect.getOwnPropertyDescriptor(current(), name);
      return property && { ...property, configurable: true };
    },
  });
}
