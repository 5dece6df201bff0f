/** What the facilitator lets through, so that calls wait for their turn while everything breaks. Beyond it: 503 in HTML. */
export const FACILITATOR_LIMITS = { perSecond: 30, burst: 60, connections: 60 };
