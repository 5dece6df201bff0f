export const PAYABLE_STATUSES = ['open', 'processing', 'complete', 'expired'] as const;
export type PayableStatus = (typeof PAYABLE_STATUSES)[number];

/** The statuses by which the API filters lists. */
export const FILTERABLE_STATUSES = ['open', 'complete', 'expired'] as const;

/** From these statuses only late money or an operator moves a session. */
export function isOver({ status }: { status: PayableStatus }): boolean {
  return status === 'complete' || status === 'expired';
}

/** A final status has no moves; an expired payable is still completed by late money. */
export function isFinal({ status }: { status: PayableStatus }): boolean {
  return status === 'complete';
}

/** The payment that paid a complete session or refund; one in flight is not shown. */
export function paidBy<P>({ status, payment }: { status: PayableStatus; payment?: P | null }): P | null {
  return status === 'complete' ? (payment ?? null) : null;
}

/** Every move of a session or a refund, and the statuses that it may start from. */
export const PAYABLE_MOVES = {
  claim: { from: ['open'], to: 'processing' },
  complete: { from: ['open', 'processing', 'expired'], to: 'complete' },
  reopen: { from: ['processing'], to: 'open' },
  expire: { from: ['open'], to: 'expired' },
  expireAfterFailure: { from: ['processing'], to: 'expired' },
} as const satisfies Record<string, { from: readonly PayableStatus[]; to: PayableStatus }>;
