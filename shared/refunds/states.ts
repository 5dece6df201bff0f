import type { Lifetime, SessionStatus } from '../payables/states.js';
import type { Token } from '../payments/states.js';

export const REFUND_STATUSES = ['requires_action', 'pending', 'succeeded', 'canceled'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

export const REFUND_REASONS = ['duplicate', 'fraudulent', 'requested_by_customer'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

/** A refund is a payable like a session, with words of its own for where it stands. */
export const REFUND_STATUS_OF: Record<SessionStatus, RefundStatus> = {
  open: 'requires_action',
  processing: 'pending',
  complete: 'succeeded',
  expired: 'canceled',
};

export function payableStatusOf(status: RefundStatus): SessionStatus {
  const found = Object.entries(REFUND_STATUS_OF).find(([, word]) => word === status);
  if (found === undefined) throw new Error(`no payable is ${status}`);
  return found[0] as SessionStatus;
}

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

const DAY_SECONDS = 24 * 3600;

export const REFUND_LIFETIME: Lifetime = {
  shortest: 30 * 60,
  longest: 30 * DAY_SECONDS,
  default: 7 * DAY_SECONDS,
  inWords: '30 minutes and 30 days',
};
