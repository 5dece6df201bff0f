import type { ChainFinding } from '../../chains/check/finding.js';
import { OUTCOME_UNKNOWN } from '../../payments/states.js';
import type { Decision, Proof } from './decision.js';
import { describeFinding } from './describe-finding.js';
import { BLOCK_LAG_MS } from './limits.js';
import { type CalledPayment, facilitatorReportedSuccess, type Times } from './payment-state.js';
import { nextWatch } from './watch.js';

/** The outcome that an operator states for a payment in processing. */
export type Resolution =
  /** `proof`: the chain shows that the transaction pays the payment. */
  | { kind: 'paid'; transaction: string; proof?: Proof }
  /** `unproven`: nothing shows that its money has not moved and cannot. */
  | { kind: 'failed'; reason: string; unproven?: boolean };

export function byOperator(
  { validUntil }: Pick<CalledPayment, 'validUntil'>,
  resolution: Resolution,
  { now }: Pick<Times, 'now'>,
): Decision {
  if (resolution.kind === 'paid') {
    const { transaction } = resolution;
    const named = { transaction, payer: undefined, proofIndex: undefined };
    const proof = resolution.proof ?? named;
    return { kind: 'succeed', proof, said: { source: 'operator', said: `paid in ${transaction}` } };
  }
  const { reason, unproven = false } = resolution;
  const watchAt = nextWatch(now, validUntil, now);
  const said = { source: 'operator', said: `failed: ${reason}` } as const;
  const code = unproven ? OUTCOME_UNKNOWN : reason;
  return { kind: 'fail', code, released: false, watchAt, said };
}

/** The reason why a chain check leaves it open that the money has moved, or can still. */
export function whyChainLeavesItOpen(
  { validUntil }: Pick<CalledPayment, 'validUntil'>,
  finding: ChainFinding,
): string | undefined {
  if (finding.kind === 'spent_otherwise') return undefined;
  if (finding.kind !== 'unused' || !finding.exhausted) return `its chain says: ${describeFinding(finding)}`;
  if (finding.chainTime > validUntil) return undefined;
  return `its chain was read up to ${finding.chainTime.toISOString()} only, and its authorization ended later`;
}

/** The reason why the money may have moved, or may still. A buyer may pay twice when such a payment is called failed. */
export function whyRowLeavesItOpen(
  payment: CalledPayment & { usedSeenAt: Date | null },
  { now }: Pick<Times, 'now'>,
): string | undefined {
  if (payment.usedSeenAt !== null) return 'the chain calls its authorization used';
  if (facilitatorReportedSuccess(payment)) return 'the facilitator has said that it settled it';
  const { validUntil } = payment;
  // The newest block that can be read may be behind the clock.
  if (validUntil.getTime() + BLOCK_LAG_MS <= now.getTime()) return undefined;
  return `its authorization is good until ${validUntil.toISOString()}, and a minute may pass before its chain is there`;
}
