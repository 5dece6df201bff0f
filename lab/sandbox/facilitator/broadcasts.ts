import { AsyncLocalStorage } from 'node:async_hooks';

/** Notifies a settlement, through the x402 packages' own call stack, that its transaction has been sent. */
const settlements = new AsyncLocalStorage<() => void>();

export function watchBroadcast<T>(onBroadcast: () => void, settle: () => Promise<T>): Promise<T> {
  return settlements.run(onBroadcast, settle);
}

export function announceBroadcast(): void {
  settlements.getStore()?.();
}
