export const PAYMENT_STATUSES = ['processing', 'succeeded', 'failed'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** `page`: the hosted page. `x402`: an agent over HTTP. */
export const CHANNELS = ['page', 'x402'] as const;
export type Channel = (typeof CHANNELS)[number];

/**
 * The failure code of a payment whose money has perhaps moved, or can still move. Every other code says that no money moved.
 */
export const OUTCOME_UNKNOWN = 'outcome_unknown';

/** Every move of a payment. A failed payment succeeds only when the chain proves that its money came late. */
export const PAYMENT_MOVES = {
  succeed: { from: ['processing'], to: 'succeeded' },
  fail: { from: ['processing'], to: 'failed' },
  arriveLate: { from: ['failed'], to: 'succeeded' },
} as const satisfies Record<string, { from: readonly PaymentStatus[]; to: PaymentStatus }>;

/**
 * The next step of a payment, at its due time. `settle`: call the facilitator, which was not called yet or certainly did
 * not process the payment. `confirm`: money may be moving, check the chain. `watch`: failed, but money may still arrive.
 */
export const PAYMENT_STAGES = ['settle', 'confirm', 'watch'] as const;
export type PaymentStage = (typeof PAYMENT_STAGES)[number];

/**
 * The evidence for a decision: the money has moved; it has not, and never can; no call has sent the payload; or the
 * authorization was unused after the last call ended.
 */
export type Certainty = 'paid' | 'unpayable' | 'unsent' | 'unused';

/** The statement of one source about a payment, for the operator. */
export interface Observation {
  at: string;
  source: 'facilitator' | 'chain' | 'operator' | 'service';
  /** The facilitator's short name, when it is the source. */
  facilitator?: string;
  said: string;
  /** The row of the payment policy that decided by it. */
  row?: string;
  /** Absent when that row proves nothing about the money. */
  certain?: Certainty;
}
