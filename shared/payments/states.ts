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
