import { type Cause, causeOfCode, NEXT_STEPS } from '../words/causes.js';
import type { ScriptWords } from '../words/script-words.js';
import type { Notice } from './steps.js';
import { type PageWallet, WalletProblem } from './wallet.js';

/** Notices about payments that failed or whose outcome is unknown. */
export function failureNotice(words: ScriptWords, code = 'payment_failed'): Notice {
  const cause = causeOfCode(code);
  return { title: words.failed, lines: [words[cause], words.nothingPaid, words[NEXT_STEPS[cause]]] };
}

export function lostNotice(words: ScriptWords, sendAgain: () => void): Notice {
  const action = { label: words.sendAgain, run: sendAgain };
  return { title: words.lost, lines: [], action };
}

export function problemNotice(words: ScriptWords, error: unknown, { name }: PageWallet): Notice {
  const { word, values } =
    error instanceof WalletProblem ? error : new WalletProblem('walletFailed', { wallet: name });
  return causeNotice(words, word, values);
}

function causeNotice(
  words: ScriptWords,
  cause: Cause,
  values: Readonly<Record<string, string>> = {},
): Notice {
  return { title: words[cause], lines: [words.nothingPaid, words[NEXT_STEPS[cause]]], values };
}

const MEANWHILE: Readonly<Record<string, Cause>> = {
  processing: 'otherPaying',
  complete: 'otherPaid',
  expired: 'overMeanwhile',
};

/** For a session that changed while a wallet was being asked: the window of the wallet may still be open. */
export function interruptedNotice(words: ScriptWords, state: string): Notice | undefined {
  const cause = MEANWHILE[state];
  return cause && { title: words[cause], lines: [words[NEXT_STEPS[cause]]] };
}
