import type { FaultEntry } from '../journals/entries.js';
import { SETTLE_TIMEOUT_MS } from '../system/service-variables.js';
import type { Evidence } from './evidence.js';

/** A process that is told to stop answers the requests in flight, and waits for the answers to its own calls. */

/** Error codes of a connection that the other side has ended. A timeout is the caller's own and does not count. */
const BROKEN = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];
/** A request sent just before the stop may not have arrived. */
const SURELY_ARRIVED_AFTER_MS = 1000;
/** A call's time runs from when it was made, and it may arrive this much later. */
const IN_FLIGHT_MS = 1500;
/** An earlier fault may still have effects for this long. */
const EFFECT_LASTS_MS = 10_000;
const PAUSED = /^SIGSTOP/;

export function checkStops({ answers, calls, faults }: Evidence): string[] {
  const violations: string[] = [];
  const stops = faults.filter(({ fault }) => fault === 'SIGTERM');
  for (const { web, request, sessionId, status, code = '', at, ms } of answers) {
    if (status !== 0 || !BROKEN.includes(code)) continue;
    const stop = stops.find(
      (each) => concerns(each, web) && at + SURELY_ARRIVED_AFTER_MS < each.at && each.at <= at + ms,
    );
    if (stop === undefined) continue;
    const excuse = (fault: string): boolean => fault === 'SIGKILL' || PAUSED.test(fault);
    if (faults.some((each) => excuse(each.fault) && concerns(each, web) && overlaps(each, at, at + ms)))
      continue;
    violations.push(
      `${web} got SIGTERM and left ${request} of ${sessionId ?? 'the merchant'}, sent ${stop.at - at} ms before, ` +
        `without an answer: ${code} after ${ms} ms`,
    );
  }
  for (const { endpoint, nonce, caller = '', at, hungUpAfterMs } of calls) {
    if (endpoint !== 'settle' || hungUpAfterMs === undefined) continue;
    if (hungUpAfterMs >= SETTLE_TIMEOUT_MS - IN_FLIGHT_MS) continue;
    const isExcuse = ({ fault, target }: FaultEntry): boolean =>
      fault === 'SIGKILL' ||
      fault === 'ended by itself' ||
      PAUSED.test(fault) ||
      target === 'the facilitator';
    const until = at + hungUpAfterMs + SURELY_ARRIVED_AFTER_MS;
    if (
      faults.some(
        (each) => isExcuse(each) && concerns(each, caller) && overlaps(each, at - EFFECT_LASTS_MS, until),
      )
    )
      continue;
    violations.push(`${caller} cut /settle of ${nonce} after ${hungUpAfterMs} ms, without being killed`);
  }
  return violations;
}

function concerns({ services }: FaultEntry, name: string): boolean {
  return services?.includes(name) !== false;
}

function overlaps({ at, ms = 0 }: FaultEntry, from: number, until: number): boolean {
  return at <= until && at + ms >= from;
}
