type Closable = { close?(): unknown };
type Closing = 'afterAll' | 'afterEach';

/** The objects that a hook of each suite is to close, the newest first. */
const openIn = {
  afterAll: new WeakMap<Mocha.Suite, Closable[]>(),
  afterEach: new WeakMap<Mocha.Suite, Closable[]>(),
};

/**
 * Registers a hook that opens something before the first test of a suite. It is closed after the suite's own `after`
 * hooks, the newest first. The result stands for what `open` returns, and is usable from the next hook on.
 */
export function forAllTests<T extends object>(open: () => T | Promise<T>): T {
  return openBy(before, 'afterAll', open);
}

/** Opens like `forAllTests`, but before each test, and closes after the suite's own `afterEach` hooks. */
export function forEachTest<T extends object>(open: () => T | Promise<T>): T {
  return openBy(beforeEach, 'afterEach', open);
}

function openBy<T extends object>(hook: Mocha.HookFunction, closing: Closing, open: () => T | Promise<T>): T {
  let opened: T | undefined;
  hook(async function () {
    opened = await open();
    closeAtEndOf(this.test?.parent, closing, opened);
  });
  return standInFor(() => {
    if (opened === undefined) throw new Error('its hook has not run yet');
    return opened;
  });
}

function closeAtEndOf(suite: Mocha.Suite | undefined, closing: Closing, opened: Closable): void {
  if (suite === undefined) throw new Error('called outside of a suite');
  const known = openIn[closing].get(suite);
  const open = known ?? [];
  open.unshift(opened);
  if (known !== undefined) return;
  openIn[closing].set(suite, open);
  // The hook is registered now, so that it runs after the hooks that the suite has registered while it was read.
  suite[closing](async () => {
    for (const one of open.splice(0)) await one.close?.();
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
