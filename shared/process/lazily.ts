/**
 * Loads when it is first asked for, and once: what few requests need does not hold up the start of a process. What could
 * not be loaded, as while its files are being replaced, is tried again when it is asked for again.
 */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
