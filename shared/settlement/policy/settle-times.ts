import { AFTER_TIMEOUT_MS, SETTLE_MARGIN_MS } from './limits.js';
import type { CalledPayment, Settings } from './payment-state.js';

/** A call that got no answer surely no longer runs at the facilitator after this time. */
export function surelyOver(startedAt: Date, { settleTimeoutMs }: Pick<Settings, 'settleTimeoutMs'>): Date {
  return new Date(startedAt.getTime() + settleTimeoutMs + AFTER_TIMEOUT_MS);
}

/** The last moment at which the payload may be sent to `/settle`. */
export function lastCallTime({ validUntil }: CalledPayment): Date {
  return new Date(validUntil.getTime() - SETTLE_MARGIN_MS);
}
