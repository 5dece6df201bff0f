import { type Certainty, OUTCOME_UNKNOWN } from '../../../../shared/payments/states.js';
import type { Decision } from '../../../../shared/settlement/policy/decision.js';

/** The certainties of which an irreversible decision needs one; undefined when it needs nothing. */
function certaintyNeeded(decision: Decision): readonly Certainty[] | undefined {
  switch (decision.kind) {
    case 'succeed':
      return ['paid'];
    case 'fail':
      if (decision.code === OUTCOME_UNKNOWN) return undefined;
      return decision.released ? ['unsent'] : ['unsent', 'unpayable'];
    case 'settle_again':
      // A call that was only postponed was decided before.
      return decision.notSent ? undefined : ['unused', 'unsent'];
    default:
      return undefined;
  }
}

/** Decisions without a row are not the policy's: an operator's word, or the chain's proof of a forgotten payment. */
export function uncertain(decision: Decision): string | undefined {
  const { row, certain, kind } = decision;
  const needed = row === undefined ? undefined : certaintyNeeded(decision);
  return needed === undefined || (certain !== undefined && needed.includes(certain))
    ? undefined
    : `${row} decides ${kind}, and is certain of ${certain ?? 'nothing'}`;
}
