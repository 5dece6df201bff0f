import { CHECK_PAUSES_MS, LONGEST_WAIT_MS, UNREADABLE_PAUSE_MS, WATCH_INTERVAL_MS } from './limits.js';
import type { Settings, Times, WatchedPayment } from './payment-state.js';
import { surelyOver } from './settle-times.js';

export function inMs({ now }: Times, ms: number): Date {
  return new Date(now.getTime() + ms);
}

export function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

/** The time of the next check: pauses grow from check to check. */
export function afterPause({ attempt, settleCalls }: WatchedPayment, times: Times): Date {
  const checks = Math.min(Math.max(attempt - settleCalls - 1, 0), CHECK_PAUSES_MS.length - 1);
  return inMs(times, CHECK_PAUSES_MS[checks] ?? CHECK_PAUSES_MS[4]);
}

/** The check after unreadable ones comes after as long as they have lasted: the pauses double. */
export function afterUnreadable(payment: WatchedPayment, times: Times): Date {
  const pauseMs = Math.max(unreadableMs(payment, times), UNREADABLE_PAUSE_MS);
  return inMs(times, Math.min(pauseMs, WATCH_INTERVAL_MS));
}

function unreadableMs({ unreadableSince }: WatchedPayment, { now }: Times): number {
  return unreadableSince === null ? 0 : now.getTime() - unreadableSince.getTime();
}

/** The end of the last `/settle` call. A call without a recorded end counts as ended when it surely has. */
export function lastCallEnd(
  { settleEndedAt, settleAskedAt, claimedAt }: WatchedPayment,
  settings: Settings,
): Date {
  return settleEndedAt ?? surelyOver(settleAskedAt ?? claimedAt, settings);
}

/** Whether a block of that time can lack a use of the authorization that the chain has. */
export function isTooEarly(chainTime: Date, payment: WatchedPayment, settings: Settings): boolean {
  const { usedSeenAt } = payment;
  return chainTime <= lastCallEnd(payment, settings) || (usedSeenAt !== null && chainTime <= usedSeenAt);
}

/** The latest end of an authorization that the payment waits for. */
export function longestWaitEnd(payment: WatchedPayment, settings: Settings): Date {
  return new Date(lastCallEnd(payment, settings).getTime() + LONGEST_WAIT_MS);
}

export function endsFarAhead(payment: WatchedPayment, settings: Settings): boolean {
  return payment.validUntil > longestWaitEnd(payment, settings);
}

/** The end of the authorization, or of the wait for it. */
export function waitEnd(payment: WatchedPayment, settings: Settings): Date {
  return endsFarAhead(payment, settings) ? longestWaitEnd(payment, settings) : payment.validUntil;
}
