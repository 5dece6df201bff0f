import { setTimeout as sleep } from 'node:timers/promises';
import type { Balancer } from '../deps/readiness-checks.js';

/** HAProxy takes three checks, 1.5 s in all, as docs/deploy.md configures it, and longer while the machine is busy. */
const TIMES = { leastMs: 3000, mostMs: 10_000, checks: 3, checksWithinMs: 2000, lookEveryMs: 100 };
/** A balancer asks no more when it is silent for so many of its own intervals. */
const INTERVALS_SILENT = 2;
/**
 * A process that was frozen finds a long silence at its first look, and reads the requests that arrived meanwhile before the
 * second.
 */
const LOOKS_SILENT = 2;

/**
 * Resolves when each balancer, if there is any, has seen that the process stops: until its checks of `/readyz` have failed
 * it routes requests here, and a request that meets the closing port is lost.
 */
export async function handOver(
  balancers: readonly Balancer[],
  times: Partial<typeof TIMES> = {},
): Promise<void> {
  const { leastMs, mostMs, checks, checksWithinMs, lookEveryMs } = { ...TIMES, ...times };
  const endsAt = performance.now() + mostMs;
  if (balancers.length === 0) return;
  await sleep(leastMs);
  const isSilent = ({ askedAt, everyMs }: Balancer): boolean =>
    performance.now() - askedAt >= Math.max(checksWithinMs, everyMs * INTERVALS_SILENT);
  let silentLooks = 0;
  while (performance.now() < endsAt) {
    const waiting = balancers.filter(({ timesTold }) => timesTold < checks);
    if (waiting.length === 0) return;
    silentLooks = waiting.every(isSilent) ? silentLooks + 1 : 0;
    if (silentLooks >= LOOKS_SILENT) return;
    await sleep(lookEveryMs);
  }
}
