import { LOCK_NOT_AVAILABLE, sqlState } from './postgres-errors.js';

/**
 * A request that was given up because of other requests, with nothing written: the connections of its account were taken
 * for too long, or a lock was not free in time.
 */
export class Busy extends Error {
  override readonly name = 'Busy';
  readonly reason: 'connections' | 'lock';

  constructor(reason: Busy['reason']) {
    super(
      reason === 'lock'
        ? 'a row stayed locked for too long'
        : "the account's connections stayed taken for too long",
    );
    this.reason = reason;
  }
}

const DEADLOCK = '40P01';

/** Runs work that takes locks in transactions of its own once more when a lock was not free in time. */
export async function retryLocked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isLocked(error)) throw error;
  }
  try {
    return await work();
  } catch (error) {
    throw isLocked(error) ? new Busy('lock') : error;
  }
}

function isLocked(error: unknown): boolean {
  const state = sqlState(error);
  return state === LOCK_NOT_AVAILABLE || state === DEADLOCK;
}
