import { setTimeout as sleep } from 'node:timers/promises';
import type { Lifecycle } from '../deps/deps.js';

/** A process is behind a balancer when its `/readyz` was asked within this time. */
const CHECKED_WITHIN_MS = 10_000;
/** HAProxy takes three checks, 1.5 s in all, as docs/deploy.md configures it, and longer while the machine is busy. */
const TIMES = { leastMs: 3000, mostMs: 10_000, checks: 3, checksWithinMs: 2000, lookEveryMs: 100 };

/**
 * Resolves when the balancer, if there is one, has seen that the process stops: until its checks of `/readyz` have failed it
 * routes requests here, and one that meets the closing port is lost.
 */
export async function handOver(lifecycle: Lifecycle, times: Partial<typeof TIMES> = {}): Promise<void> {
  const { leastMs, mostMs, checks, checksWithinMs, lookEveryMs } = { ...TIMES, ...times };
  const endsAt = performance.now() + mostMs;
  const sinceCheckMs = (): number => performance.now() - lifecycle.readinessAskedAt;
  if (sinceCheckMs() > CHECKED_WITHIN_MS) return;
  await sleep(leastMs);
  const isAskedOn = (): boolean => lifecycle.stoppingAnswers < checks && sinceCheckMs() < checksWithinMs;
  while (isAskedOn() && performance.now() < endsAt) await sleep(lookEveryMs);
}
