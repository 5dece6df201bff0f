import { failureWord } from '../failure-words.js';
import type { ScriptWords } from '../words/words.js';
import type { Notice } from './steps.js';
import { type PageWallet, WalletProblem } from './wallet.js';

/** What a buyer is told of a payment that came to nothing, or of which nobody knows. */
export function failureNotice(words: ScriptWords, code = 'payment_failed'): Notice {
  return { title: words.failed, lines: [words[failureWord(code)], words.nothingPaid] };
}

export function lostNotice(words: ScriptWords, sendAgain: () => void): Notice {
  const action = { label: words.sendAgain, run: sendAgain };
  return { title: words.failed, lines: [words.lost], action };
}

export function problemNotice(words: ScriptWords, error: unknown, { name }: PageWallet): Notice {
  const { word, values } =
    error instanceof WalletProblem ? error : new WalletProblem('walletFailed', { wallet: name });
  const more = word === 'notEnough' ? words.notEnoughAnywhere : words.nothingPaid;
  return { title: words[word], lines: [more], values };
}
