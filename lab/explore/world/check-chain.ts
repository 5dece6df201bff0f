import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import type { CheckFaultMode } from '../steps/steps.js';
import { BLOCK_SECONDS, type LandedMove, type ModelChain } from './chain.js';

interface CheckedPayment {
  nonce: string;
  payer: string;
  validBeforeSeconds: number;
}

const BEHIND_SECONDS: Partial<Record<CheckFaultMode, number>> = { behind: 20, 'far behind': 200 };

/** An endpoint's answer in a fault mode. It never answers anything false; it may be late, or say less. */
export function checkChain(chain: ModelChain, mode: CheckFaultMode, payment: CheckedPayment): ChainFinding {
  const head = chain.head() - (BEHIND_SECONDS[mode] ?? 0);
  const chainTime = new Date(head * 1000);
  const used = chain.used(payment.nonce, head);
  if (mode === 'silent') return { kind: 'unreadable', reason: 'silent' };
  if (mode === 'head only') return { kind: 'unreadable', reason: 'head only', chainTime };
  if (mode === 'searching') return { kind: 'searching', reason: 'cut short', position: { at: 1 } };
  if (used === undefined) {
    return { kind: 'unused', chainTime, exhausted: head > payment.validBeforeSeconds };
  }
  return mode === 'used only' ? { kind: 'used', reason: 'cut short' } : judge(used, head, payment.payer);
}

function judge({ kind, transaction, block }: LandedMove, head: number, payer: string): ChainFinding {
  if (kind === 'cancels') return { kind: 'spent_otherwise', transaction };
  const confirmations = (head - block) / BLOCK_SECONDS + 1;
  return { kind: 'paid', transaction, height: block, proofIndex: 0, payer, confirmations };
}
