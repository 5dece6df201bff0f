export const PAYMENT_STATUSES = ['processing', 'succeeded', 'failed'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

export const TOKENS = ['USDC', 'USDT', 'USDG'] as const;
export type Token = (typeof TOKENS)[number];

/** How the buyer came: the hosted page, or an agent over x402. */
export const CHANNELS = ['page', 'x402'] as const;
export type Channel = (typeof CHANNELS)[number];

/** Every move of a payment. A failed one succeeds only when the chain proves that its money came late. */
export const PAYMENT_MOVES = {
  succeed: { from: ['processing'], to: 'succeeded' },
  fail: { from: ['processing'], to: 'failed' },
  arriveLate: { from: ['failed'], to: 'succeeded' },
} as const satisfies Record<string, { from: readonly PaymentStatus[]; to: PaymentStatus }>;

/**
 * What is to be done next for a payment, at its due time. `settle`: the facilitator was not asked yet, or surely did
 * not process it. `confirm`: money may be moving, ask the chain. `watch`: failed, but money might still come.
 */
export const PAYMENT_STAGES = ['settle', 'confirm', 'watch'] as const;
export type PaymentStage = (typeof PAYMENT_STAGES)[number];

/** What one source said about a payment, for the operator. */
export interface Observation {
  at: string;
  source: 'facilitator' | 'chain' | 'operator' | 'service';
  said: string;
}

/**
 * How far the search for a payment on its chain has come, for the next look. It is read only by the adapter that wrote
 * it, which begins anew when it cannot use it.
 */
export type SearchPlace = Readonly<Record<string, string | number | boolean | null>>;

/** Authorizations that end later than this ahead are decided by looks at the chain instead of their end. */
export const LONGEST_WAIT_MS = 15 * 60_000;
/** Between the two looks that decide such a one. */
export const BETWEEN_LOOKS_MS = 15_000;
/** After an authorization's end, when no chain can be read. */
export const UNREADABLE_MARGIN_MS = 60_000;
/** A Solana transaction lives 150 blocks, 60 to 90 s; this is on the safe side. */
export const SOLANA_LIFETIME_MS = 180_000;
/** The facilitator is asked again only while this much of the authorization is left. */
export const SETTLE_MARGIN_MS = 10_000;
export const WATCH_INTERVAL_MS = 3_600_000;
export const LONGEST_WATCH_MS = 7 * 24 * 3_600_000;

/** When an undecided payment may be called failed, and by what. */
export interface DecisionTimes {
  /** The authorization ends within reach: its end decides. */
  endsSoon: boolean;
  /** From here on, a chain that cannot be read no longer holds the decision up. */
  giveUpAt: Date;
}

export function decisionTimes(validUntil: Date, lastSettleAt: Date): DecisionTimes {
  const longest = lastSettleAt.getTime() + LONGEST_WAIT_MS;
  const endsSoon = validUntil.getTime() <= longest;
  return { endsSoon, giveUpAt: new Date(endsSoon ? validUntil.getTime() + UNREADABLE_MARGIN_MS : longest) };
}

/** A late look soon after the authorization's end, then hourly, at most for a week; undefined when it is over. */
export function nextWatch(now: Date, validUntil: Date, failedAt: Date): Date | undefined {
  const afterEnd = validUntil.getTime() + UNREADABLE_MARGIN_MS;
  const hourLater = now.getTime() + WATCH_INTERVAL_MS;
  const next = afterEnd > now.getTime() ? Math.min(afterEnd, hourLater) : hourLater;
  return next > failedAt.getTime() + LONGEST_WATCH_MS ? undefined : new Date(next);
}
