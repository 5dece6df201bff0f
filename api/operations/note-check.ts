import type { Lifecycle } from '../deps/deps.js';

/** A process is behind a balancer when its `/readyz` was asked within this time. */
export const CHECKED_WITHIN_MS = 10_000;

/** For every request for `/readyz`. */
export function noteCheck(lifecycle: Lifecycle): void {
  const at = performance.now();
  const intervalMs = at - lifecycle.readinessAskedAt;
  lifecycle.readinessEveryMs = intervalMs > CHECKED_WITHIN_MS ? 0 : intervalMs;
  lifecycle.readinessAskedAt = at;
}
