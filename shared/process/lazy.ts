/**
 * Loads once, at the first call, so that a rarely used module does not slow the start of a process. A failed load, as
 * while a deployment replaces the files, is retried at the next call.
 */
export function lazy<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
