import type { SettleVerdict } from '../../x402/settle-verdict.js';
import type { Answer } from './answer-case.js';
import { type CalledPayment, isOutcomeUnclear } from './payment-state.js';

export function unknownAfterUnclear(failure: Answer<'rejected' | 'not_processed'>): Answer<'unknown'> {
  const reason = failure.kind === 'rejected' ? failure.reason : failure.why;
  return {
    kind: 'unknown',
    why: `${reason} after an unclear attempt`,
    transaction: undefined,
    mayStillRun: false,
  };
}

/** The answer as it counts: after an unclear attempt of the same payment a failure proves nothing. */
export function provenVerdict(payment: CalledPayment, answer: SettleVerdict): SettleVerdict {
  const isFailure = answer.kind === 'rejected' || answer.kind === 'not_processed';
  return isFailure && isOutcomeUnclear(payment) ? unknownAfterUnclear(answer) : answer;
}
