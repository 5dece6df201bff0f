/**
 * Loaded first into a process that is weighed: tells, whenever it is asked, for how long its event loop stood still at
 * most and what it held, both since it was asked before. It ends with the one that started it.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 2;
const LOOK_EVERY_MS = 20;
const MIB = 1024 * 1024;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
let residentBytes = 0;
setInterval(() => {
  residentBytes = Math.max(residentBytes, process.memoryUsage.rss());
}, LOOK_EVERY_MS).unref();

process.on('message', () => {
  process.send({
    heldMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
    residentMiB: residentBytes / MIB,
    mostMiB: process.resourceUsage().maxRSS / 1024,
  });
  delay.reset();
  residentBytes = process.memoryUsage.rss();
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.channel.unref();
