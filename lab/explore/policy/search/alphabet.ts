import type { SessionStatus } from '../../../../shared/payables/states.js';
import type { PaymentStage, PaymentStatus } from '../../../../shared/payments/states.js';
import type { Caller, Finding, Looker, Payment } from '../model/world.js';

/** A world is written as text, one character a value: numbers lie around zero, and words have a number. */
export const ZERO = 60;
export const NONE = -ZERO;

export const SESSIONS: readonly SessionStatus[] = ['open', 'processing', 'complete', 'expired'];
export const STATUSES: readonly PaymentStatus[] = ['processing', 'succeeded', 'failed'];
export const STAGES: readonly (PaymentStage | null)[] = [null, 'settle', 'confirm', 'watch'];
export const FAILED: readonly Payment['failed'][] = [null, 'lately', 'a week ago'];
export const HANDS: readonly (Caller | Looker)['kind'][] = ['stalled', 'calling', 'looking'];
export const FINDINGS: readonly Finding['kind'][] = [
  'paid',
  'unused',
  'unreadable',
  'used',
  'searching',
  'pending',
  'spent_otherwise',
];
