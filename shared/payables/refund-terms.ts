import type { Token } from '../payments/states.js';

export const REFUND_REASONS = ['duplicate', 'fraudulent', 'requested_by_customer'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

/** What is fixed when a refund is made: the way back of the money, and what for. */
export interface RefundTerms {
  checkoutSession: string;
  /** The merchant's own word for the order. */
  reference: string | null;
  reason: RefundReason | null;
  token: Token;
  tokenAmount: string;
  tokenDecimals: number;
  network: string;
  networkName: string;
  /** Token contract or mint. */
  asset: string;
  /** The wallet that paid. */
  payTo: string;
}
