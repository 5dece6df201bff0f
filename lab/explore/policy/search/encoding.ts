import type { PayableStatus } from '../../../../shared/payables/states.js';
import type { PaymentStage, PaymentStatus } from '../../../../shared/payments/states.js';
import type { Caller, Checker, Finding, Payment } from '../model/world.js';

/** A world is encoded as text, one character per value: numbers are offset from zero, and words have an index. */
export const ZERO = 60;
export const NONE = -ZERO;

export const SESSIONS: readonly PayableStatus[] = ['open', 'processing', 'complete', 'expired'];
export const STATUSES: readonly PaymentStatus[] = ['processing', 'succeeded', 'failed'];
export const STAGES: readonly (PaymentStage | null)[] = [null, 'settle', 'confirm', 'watch'];
export const FAILED: readonly Payment['failed'][] = [null, 'lately', 'a week ago'];
export const WORKERS: readonly (Caller | Checker)['kind'][] = ['stalled', 'calling', 'checking'];
export const FINDINGS: readonly Finding['kind'][] = [
  'paid',
  'unused',
  'unreadable',
  'used',
  'searching',
  'pending',
  'spent_otherwise',
];
