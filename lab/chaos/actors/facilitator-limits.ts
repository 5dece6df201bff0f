/**
 * The facilitator's limits, low enough for calls to queue while faults are injected. Beyond them it answers 503 in
 * HTML.
 */
export const FACILITATOR_LIMITS = { perSecond: 30, burst: 60, connections: 60 };
