import { readFileSync } from 'node:fs';

/** The error reasons of real facilitators, each once. */
export const WORDS: readonly string[] = readWords();

/** Words after which the money may have moved, or may still move. */
const UNCLEAR_WORDS: ReadonlySet<string> = new Set([
  'settlement_pending',
  'duplicate_settlement',
  'post_settlement_transfer_not_confirmed',
  'settle_exact_evm_transaction_confirmation_timed_out',
  'settle_exact_svm_transaction_confirmation_timed_out',
  'settlement_timed_out',
  'transaction_not_confirmed',
  'invalid_exact_evm_nonce_already_used',
  'invalid_exact_evm_transaction_failed',
  'invalid_exact_svm_transaction_failed',
  'invalid_exact_solana_transaction_failed',
  'invalid_batch_settlement_evm_claim_transaction_failed',
  'invalid_batch_settlement_evm_deposit_transaction_failed',
  'invalid_batch_settlement_evm_refund_transaction_failed',
  'invalid_batch_settlement_evm_settle_transaction_failed',
]);

/** Words that facilitators also give for a used authorization: the service checks the chain before it believes them. */
const DOUBTFUL_WORDS: ReadonlySet<string> = new Set([
  'invalid_transaction_state',
  'unexpected_settle_error',
  'unexpected_verify_error',
  'invalid_nonce',
  'permit2_invalid_nonce',
  'invalid_exact_evm_failed_to_check_nonce',
]);

/** What a caller may conclude from a failure with this word and no transaction. */
export function certaintyOf(word: string): 'refused' | 'refused doubtfully' | 'unclear' {
  if (UNCLEAR_WORDS.has(word)) return 'unclear';
  return DOUBTFUL_WORDS.has(word) ? 'refused doubtfully' : 'refused';
}

function readWords(): string[] {
  const file = new URL('../../../shared/x402/facilitator-words.json', import.meta.url);
  const groups: Record<string, { words: string[] }> = JSON.parse(readFileSync(file, 'utf8'));
  return [...new Set(Object.values(groups).flatMap(({ words }) => words))];
}
