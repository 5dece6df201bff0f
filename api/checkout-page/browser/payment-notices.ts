import { type Cause, NEXT_STEPS } from '../words/causes.js';
import type { ScriptWords } from '../words/script-words.js';
import type { Outcome } from './send-payment.js';
import type { Notice } from './steps.js';
import { isUncertain } from './uncertain.js';
import { type PageWallet, WalletProblem } from './wallet.js';

/** The signature was used by an earlier payment, perhaps of another link. Its own answer said what it took. */
const USED_EARLIER = 'signature_already_used';

/** Notices about payments that failed for certain. */
export function failureNotice(words: ScriptWords, { code, cause = 'failedOther' }: Outcome): Notice {
  const taken = code === USED_EARLIER ? '' : nothingTaken(words);
  return { title: words.failed, lines: [words[cause], taken, words[NEXT_STEPS[cause]]] };
}

/** Empty while an earlier payment may have been taken: the buyer would take the sentence for both. */
function nothingTaken(words: ScriptWords): string {
  return isUncertain() ? '' : words.nothingPaid;
}

/** The notice of an error that came before anything was sent. */
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
  return { title: words[cause], lines: [nothingTaken(words), words[NEXT_STEPS[cause]]], values };
}

const MEANWHILE: Readonly<Record<string, Cause>> = {
  open: 'otherPaying',
  processing: 'otherPaying',
  complete: 'otherPaid',
  expired: 'overMeanwhile',
};

/** The notice that the session changed while a wallet was being asked: the window of the wallet may still be open. */
export function interruptedNotice(words: ScriptWords, state: string): Notice | undefined {
  const cause = MEANWHILE[state];
  return cause && { title: words[cause], lines: [words[NEXT_STEPS[cause]]] };
}
