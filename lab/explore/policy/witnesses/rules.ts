import type { ChainFinding } from '../../../../shared/chains/check/finding.js';
import {
  whyChainLeavesItOpen,
  whyRowLeavesItOpen,
} from '../../../../shared/settlement/policy/by-operator.js';
import type { CalledPayment, Times } from '../../../../shared/settlement/policy/payment-state.js';
import { POLICY } from '../setting/policy.js';

type Resolvable = CalledPayment & { usedSeenAt: Date | null };

/**
 * Everything that decides in the wide model: the policy, and the rules of the session that are no table. Those are
 * written here again, as a second opinion on the code that they name. A mutant changes one of them.
 */
export const RULES_OF_ALL = {
  ...POLICY,
  /** The processes' belief about Postgres after a standby was promoted. */
  commitsMayBeLost: (isPromoted: boolean): boolean => isPromoted,
  /** `checkBeforeRefusal`: a payload without a row was refused, and the chain was checked. */
  refusalAfterCheck(
    finding: ChainFinding,
    saysUsed: boolean,
    mayBeLost: boolean,
  ): 'paid' | 'nothing' | 'uncertain' {
    if (finding.kind === 'paid') return 'paid';
    // A call that Postgres has forgotten may still use an unused authorization.
    const isCertain =
      finding.kind === 'spent_otherwise' || (finding.kind === 'unused' && (finding.exhausted || !mayBeLost));
    return isCertain || !(saysUsed || mayBeLost) ? 'nothing' : 'uncertain';
  },
  /** `acceptPayment`: whether the chain is checked before such a refusal. */
  checksBeforeRefusal: (saysUsed: boolean, commitsMayBeLost: boolean): boolean =>
    saysUsed || commitsMayBeLost,
  /** `checkContent`: an authorization is over when both clocks say so. */
  isWindowOver: (validUntil: Date, { now, own }: Times): boolean => now >= validUntil && own >= validUntil,
  /** `whyMoneyMayArrive`: an operator's word is refused when the payment's columns or its chain speak against it. */
  mayCallFailed(payment: Resolvable, finding: ChainFinding, times: Times): boolean {
    const earlier = new Date(Math.min(times.now.getTime(), times.own.getTime()));
    return (
      whyRowLeavesItOpen(payment, { now: earlier }) === undefined &&
      whyChainLeavesItOpen(payment, finding) === undefined
    );
  },
  /** `recordFound` and `recordLate`: reconcile records transfers that the chain proves and no succeeded payment has. */
  reconciles: ({ kind }: ChainFinding): boolean => kind === 'paid',
};

export type AllRules = typeof RULES_OF_ALL;
