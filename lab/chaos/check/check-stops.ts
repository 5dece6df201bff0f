import type { FaultEntry } from '../actors/entries.js';
import { SETTLE_TIMEOUT_MS } from '../stage/service-environment.js';
import type { Books } from './books.js';

/** Whoever is told to stop answers those who wait for it, and hears out those on whom it waits. */

/** How a connection ends that its other side has ended; a time-out is the caller's own. */
const BROKEN = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];
/** What was sent just before may not have been heard. */
const SURELY_HEARD_AFTER_MS = 1000;
/** How late a call may arrive whose time runs from when it was made. */
const ON_ITS_WAY_MS = 1500;
/** What was done before may still be felt. */
const FELT_FOR_MS = 10_000;
const PAUSED = /^SIGSTOP/;

export function checkStops({ answers, calls, faults }: Books): string[] {
  const violations: string[] = [];
  const told = faults.filter(({ fault }) => fault === 'SIGTERM');
  for (const { web, request, sessionId, status, code = '', at, ms } of answers) {
    if (status !== 0 || !BROKEN.includes(code)) continue;
    const stop = told.find(
      (each) => concerns(each, web) && at + SURELY_HEARD_AFTER_MS < each.at && each.at <= at + ms,
    );
    if (stop === undefined) continue;
    const excuse = (fault: string): boolean => fault === 'SIGKILL' || PAUSED.test(fault);
    if (faults.some((each) => excuse(each.fault) && concerns(each, web) && overlaps(each, at, at + ms)))
      continue;
    violations.push(
      `${web} was told to stop and left ${request} of ${sessionId ?? 'the merchant'}, sent ${stop.at - at} ms before, ` +
        `without an answer: ${code} after ${ms} ms`,
    );
  }
  for (const { endpoint, nonce, caller = '', at, hungUpAfterMs } of calls) {
    if (endpoint !== 'settle' || hungUpAfterMs === undefined) continue;
    if (hungUpAfterMs >= SETTLE_TIMEOUT_MS - ON_ITS_WAY_MS) continue;
    const isExcuse = ({ fault, target }: FaultEntry): boolean =>
      fault === 'SIGKILL' ||
      fault === 'ended by itself' ||
      PAUSED.test(fault) ||
      target === 'the facilitator';
    const until = at + hungUpAfterMs + SURELY_HEARD_AFTER_MS;
    if (
      faults.some(
        (each) => isExcuse(each) && concerns(each, caller) && overlaps(each, at - FELT_FOR_MS, until),
      )
    )
      continue;
    violations.push(`${caller} cut /settle of ${nonce} after ${hungUpAfterMs} ms, and nobody had killed it`);
  }
  return violations;
}

function concerns({ services }: FaultEntry, name: string): boolean {
  return services?.includes(name) !== false;
}

function overlaps({ at, ms = 0 }: FaultEntry, from: number, until: number): boolean {
  return at <= until && at + ms >= from;
}
