/** `Promise.withResolvers`, which Node.js has from version 22 on. */
export function withResolvers<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let settle = (_value: T): void => undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle(value) };
}
