import type { PayableStatus } from './states.js';

export const REFUND_STATUSES = ['requires_action', 'pending', 'succeeded', 'canceled'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

/**
 * A refund moves like a session, by the same statements: `shared/settlement/` claims, completes and reopens both. The API has
 * other names for its statuses.
 */
export const REFUND_STATUS_OF: Record<PayableStatus, RefundStatus> = {
  open: 'requires_action',
  processing: 'pending',
  complete: 'succeeded',
  expired: 'canceled',
};

export function payableStatusOf(status: RefundStatus): PayableStatus {
  const found = Object.entries(REFUND_STATUS_OF).find(([, word]) => word === status);
  if (found === undefined) throw new Error(`no status of a payable is shown as ${status}`);
  return found[0] as PayableStatus;
}
