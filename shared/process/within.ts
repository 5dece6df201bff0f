export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

/** Rejects with TookTooLong after that time; what it waits for goes on, and nobody hears how it ends. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TookTooLong(`it took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Goes on when it is done, and after that time all the same; false when that came first. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<boolean> {
  try {
    await within(ms, work);
    return true;
  } catch (error) {
    if (error instanceof TookTooLong) return false;
    throw error;
  }
}
