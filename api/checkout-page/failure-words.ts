import type { Words } from './words/words.js';

/**
 * Words for people, by what a failure's code speaks of: facilitators coin new codes. The page's script uses this table as
 * well.
 */
const SUBJECTS: [pattern: RegExp, word: keyof Words & `failed${string}`][] = [
  [/already_used/, 'failedUsed'],
  [/insufficient/, 'failedFunds'],
  [/valid_before|valid_after|expired|block_height/, 'failedTime'],
  [/kyt/, 'failedRefused'],
  [/service_unavailable|unexpected_/, 'failedService'],
  [/signature/, 'failedSignature'],
  [/recipient|value|amount|mint|network|requirements|scheme|payload|version/, 'failedChanged'],
  [/transaction_state|nonce|duplicate|transaction_failed/, 'failedUsed'],
  [/simulation/, 'failedFunds'],
];

type FailureWord = (typeof SUBJECTS)[number][1] | 'failedOther';

export function failureWord(code: string): FailureWord {
  return SUBJECTS.find(([pattern]) => pattern.test(code))?.[1] ?? 'failedOther';
}
