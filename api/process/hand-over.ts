import { setTimeout as sleep } from 'node:timers/promises';
import type { Lifecycle } from '../deps/deps.js';
import { CHECKED_WITHIN_MS } from '../operations/note-check.js';

/** HAProxy takes three checks, 1.5 s in all, as docs/deploy.md configures it, and longer while the machine is busy. */
const TIMES = { leastMs: 3000, mostMs: 10_000, checks: 3, checksWithinMs: 2000, lookEveryMs: 100 };
/** A balancer asks no more when it is silent for so many of its own intervals. */
const INTERVALS_SILENT = 2;
/** A process that was frozen finds a long silence at its first look, and reads what has arrived before the second. */
const LOOKS_SILENT = 2;

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
  const isSilent = (): boolean =>
    sinceCheckMs() >= Math.max(checksWithinMs, lifecycle.readinessEveryMs * INTERVALS_SILENT);
  let silentLooks = 0;
  while (lifecycle.stoppingAnswers < checks && performance.now() < endsAt) {
    silentLooks = isSilent() ? silentLooks + 1 : 0;
    if (silentLooks >= LOOKS_SILENT) return;
    await sleep(lookEveryMs);
  }
}
