import type { ChainFinding } from '../../../shared/chains/finding.js';
import type { LookMood } from '../steps.js';
import { BLOCK_SECONDS, type CarriedMove, type ModelChain } from './chain.js';

export interface LookedFor {
  nonce: string;
  payer: string;
  validBeforeSeconds: number;
}

const BEHIND_SECONDS: Partial<Record<LookMood, number>> = { behind: 20, 'far behind': 200 };

/** What an endpoint in that mood says now. It never says what is not so; it may be late, or say less. */
export function look(chain: ModelChain, mood: LookMood, payment: LookedFor): ChainFinding {
  const head = chain.head() - (BEHIND_SECONDS[mood] ?? 0);
  const chainTime = new Date(head * 1000);
  const used = chain.used(payment.nonce, head);
  if (mood === 'silent') return { kind: 'unreadable', reason: 'silent' };
  if (mood === 'head only') return { kind: 'unreadable', reason: 'head only', chainTime };
  if (mood === 'searching') return { kind: 'searching', reason: 'cut short', place: { at: 1 } };
  if (used === undefined) {
    return { kind: 'unused', chainTime, exhausted: head > payment.validBeforeSeconds };
  }
  return mood === 'used only' ? { kind: 'used', reason: 'cut short' } : judge(used, head, payment.payer);
}

function judge({ kind, transaction, block }: CarriedMove, head: number, payer: string): ChainFinding {
  if (kind === 'cancels') return { kind: 'spent_otherwise', transaction };
  const confirmations = (head - block) / BLOCK_SECONDS + 1;
  const blockTime = new Date(block * 1000);
  return { kind: 'paid', transaction, proofIndex: 0, payer, confirmations, blockTime };
}
