import {
  type CodeMeaning,
  meaningOf,
  SETTLE_ERROR_CODES,
} from '../../../shared/x402/facilitator/settle-error-codes.js';

/** Words of facilitators that the service does not know. */
const UNKNOWN_WORDS = [
  'a_word_of_tomorrow',
  'invalid_nonce',
  'kyt_refused',
  'settlement_timed_out',
  'transaction_not_confirmed',
];

/** The error reasons of real facilitators, each once, and some unlisted ones. */
export const WORDS: readonly string[] = [...SETTLE_ERROR_CODES.keys(), ...UNKNOWN_WORDS];

const CERTAINTIES = {
  refusal: 'refused',
  refusal_if_unused: 'refused doubtfully',
  unclear: 'unclear',
} as const satisfies Record<CodeMeaning, string>;

/** The certainty of a failure with this `errorReason` and no transaction. */
export function certaintyOf(word: string): (typeof CERTAINTIES)[CodeMeaning] {
  return CERTAINTIES[meaningOf(word)];
}
