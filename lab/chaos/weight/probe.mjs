/**
 * A measured process loads this module first. On request it reports the longest event loop delay, the most processor time
 * that one turn took, how long the process waited for a processor, and the highest memory use since the last request.
 */
import { openSync, readSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 2;
const CHECK_EVERY_MS = 20;
const MIB = 1024 * 1024;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
let residentBytes = 0;
setInterval(() => {
  residentBytes = Math.max(residentBytes, process.memoryUsage.rss());
}, CHECK_EVERY_MS).unref();

const readClock = openProcessorClock();
let longestTurnMs = 0;
let turnAt = readClock();
let reportedAt = turnAt;
setInterval(() => {
  const now = readClock();
  longestTurnMs = Math.max(longestTurnMs, now.ranMs - turnAt.ranMs);
  turnAt = now;
}, RESOLUTION_MS).unref();

process.on('message', () => {
  const now = readClock();
  process.send({
    blockedMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
    turnMs: longestTurnMs,
    waitedMs: now.waitedMs - reportedAt.waitedMs,
    residentMiB: residentBytes / MIB,
    mostMiB: process.resourceUsage().maxRSS / 1024,
  });
  reportedAt = now;
  delay.reset();
  longestTurnMs = 0;
  residentBytes = process.memoryUsage.rss();
});
process.channel.unref();

/** How long the main thread ran and waited for a processor. Only Linux tells it; without it the delay is all there is. */
function openProcessorClock() {
  const bytes = Buffer.alloc(100);
  try {
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
    return () => {
      const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0));
      const [ranMs, waitedMs] = text.split(' ').map((nanoseconds) => Number(nanoseconds) / 1e6);
      return { ranMs, waitedMs };
    };
  } catch {
    return () => ({ ranMs: Number.NaN, waitedMs: Number.NaN });
  }
}
