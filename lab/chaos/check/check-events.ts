import { CLOCK_SET } from '../faults/step-clocks.js';
import type { Received } from '../journals/entries.js';
import { STEADY_ENDPOINT } from '../system/system.js';
import type { Evidence } from './evidence.js';
import { isLost } from './forgotten.js';

/** An attempt in flight when its endpoint was closed may still arrive. */
const IN_FLIGHT_MS = 15_000;
const COMPLETED = 'checkout.session.completed';
const EXPIRED = 'checkout.session.expired';

/** The steady endpoint receives one event per type for each finished session. */
export function checkEvents({
  sessions,
  refunds,
  received,
  endpoints,
  ledger,
  liedAbout,
  forgotten,
  faults,
}: Evidence): string[] {
  const violations: string[] = [];
  for (const { at, verified, untimely, eventId, endpoint } of received) {
    const isOfSetClock = untimely === true && wasClockSet(at, faults);
    if (!verified && !isOfSetClock) violations.push(`${eventId} reached ${endpoint} with a wrong signature`);
  }
  const delivered = received.filter(
    ({ endpoint, verified, reaction }) => endpoint === STEADY_ENDPOINT && verified && reaction === 200,
  );
  const deliveredIds = new Set(delivered.map(({ eventId }) => eventId));
  const isDelivered = (event: Received | undefined): boolean =>
    event !== undefined && deliveredIds.has(event.eventId);
  const receivedOf = new Map<string, Received[]>();
  for (const event of received)
    receivedOf.set(event.sessionId, [...(receivedOf.get(event.sessionId) ?? []), event]);
  for (const { id, status, payment } of sessions.values()) {
    const own = receivedOf.get(id) ?? [];
    const [completed, ...moreCompleted] = eventsOf(own, COMPLETED);
    const [expired, ...moreExpired] = eventsOf(own, EXPIRED);
    if (forgotten.has(id)) {
      // A lost event is written again under another id.
      const type = status === 'complete' ? COMPLETED : EXPIRED;
      const isTold = !isOver(status) || eventsOf(own, type).some(isDelivered);
      if (!isTold) violations.push(`${id} is ${status}, and no event was delivered`);
      continue;
    }
    if (moreCompleted.length + moreExpired.length > 0) violations.push(`${id} has two events of one type`);
    if (status === 'complete' && !isDelivered(completed))
      violations.push(`${id} is complete, and no event was delivered`);
    if (status === 'expired' && !isDelivered(expired))
      violations.push(`${id} is expired, and no event was delivered`);
    if (status !== 'complete' && completed !== undefined)
      violations.push(`${id} has a completed event and is ${status}`);
    if (completed !== undefined && completed.transaction !== payment?.transaction) {
      violations.push(
        `${id} has an event with transaction ${completed.transaction}, not ${payment?.transaction}`,
      );
    }
    if (expired === undefined || status === 'expired') continue;
    // A session has both events only when the money came late.
    const moved = ledger.find(({ transaction }) => transaction === payment?.transaction);
    const isLate = moved !== undefined && (liedAbout.has(moved.nonce) || moved.at >= expired.created * 1000);
    if (status !== 'complete' || !isLate) violations.push(`${id} has an expired event and is ${status}`);
  }
  for (const { sessionId, eventId } of received) {
    if (!sessions.has(sessionId) && !refunds.has(sessionId) && !forgotten.has(sessionId))
      violations.push(`${eventId} is about ${sessionId}, which does not exist`);
  }
  for (const [index, { endpoint, is, at }] of endpoints.entries()) {
    if (is === 'enabled' || isLost(at, faults)) continue;
    const until =
      endpoints.slice(index + 1).find((later) => later.endpoint === endpoint)?.at ?? Number.POSITIVE_INFINITY;
    const late = received.filter((r) => r.endpoint === endpoint && r.at > at + IN_FLIGHT_MS && r.at < until);
    if (late.length > 0) violations.push(`${late.length} events reached ${endpoint} after it was ${is}`);
  }
  return violations;
}

/** Whether a clock was set then, or a moment before: a worker that was suspended sends its signed request later. */
function wasClockSet(at: number, faults: Evidence['faults']): boolean {
  return faults.some(
    ({ fault, at: from, ms = 0 }) => fault === CLOCK_SET && from <= at && at <= from + ms + IN_FLIGHT_MS,
  );
}

function eventsOf(received: readonly Received[], type: string): Received[] {
  const ofType = received.filter((event) => event.type === type);
  return [...new Map(ofType.map((event) => [event.eventId, event])).values()];
}

function isOver(status: string): boolean {
  return status === 'complete' || status === 'expired';
}
