/**
 * Loaded first into a measured process. On request it reports the longest event loop delay and the highest memory use
 * since the last request.
 */
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

process.on('message', () => {
  process.send({
    blockedMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
    residentMiB: residentBytes / MIB,
    mostMiB: process.resourceUsage().maxRSS / 1024,
  });
  delay.reset();
  residentBytes = process.memoryUsage.rss();
});
process.channel.unref();
