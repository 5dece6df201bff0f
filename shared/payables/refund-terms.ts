import type { TokenSymbol } from '../chains/networks/networks.js';

export const REFUND_REASONS = ['duplicate', 'fraudulent', 'requested_by_customer'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

/** The parts of a refund that never change after its creation. */
export interface RefundTerms {
  checkoutSession: string;
  /** The `client_reference_id` of the refunded session. */
  reference: string | null;
  reason: RefundReason | null;
  token: TokenSymbol;
  /** Amount in the token's smallest unit. */
  tokenAmount: string;
  tokenDecimals: number;
  /** CAIP-2. */
  network: string;
  networkName: string;
  /** Token contract or mint. */
  asset: string;
  /** The wallet that paid. */
  payTo: string;
}
