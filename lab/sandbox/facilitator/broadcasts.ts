import { AsyncLocalStorage } from 'node:async_hooks';

/** Tells a settlement under way, however deep in x402's packages, that its transaction is on its way. */
const settlements = new AsyncLocalStorage<(transaction: string) => void>();

export function watchBroadcast<T>(
  onBroadcast: (transaction: string) => void,
  settle: () => Promise<T>,
): Promise<T> {
  return settlements.run(onBroadcast, settle);
}

export function announceBroadcast(transaction: string): void {
  settlements.getStore()?.(transaction);
}
