export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** Rejects with TimedOut after `ms`. The work itself continues, and its result is ignored. */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimedOut(`it took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for the work, but no longer than `ms`. False when the time ran out. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<boolean> {
  try {
    await withTimeout(ms, work);
    return true;
  } catch (error) {
    if (error instanceof TimedOut) return false;
    throw error;
  }
}
