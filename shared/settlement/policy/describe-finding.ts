import type { ChainFinding } from '../../chains/check/finding.js';
import type { Decision } from './decision.js';

/** The text of a finding in a payment's history. */
export function describeFinding(finding: ChainFinding): string {
  switch (finding.kind) {
    case 'paid':
      return `paid in ${finding.transaction}`;
    case 'pending':
      return `pending in ${finding.transaction}${finding.pays === false ? ', which does not pay' : ''}`;
    case 'spent_otherwise':
      return `used up by ${finding.transaction} without paying`;
    case 'unused':
      return finding.exhausted ? 'unused, and can never be used' : 'unused';
    case 'used':
      return `used, by what is not known yet: ${finding.reason}`;
    case 'searching':
      return `not found so far: ${finding.reason}`;
    case 'unreadable':
      return `not readable: ${finding.reason}`;
  }
}

/** The words for the history of a payment whose transaction proves another. */
export function provesAnother(transaction: string): Decision['said'] {
  return { source: 'service', said: `the transfer in ${transaction} proves another payment` };
}
