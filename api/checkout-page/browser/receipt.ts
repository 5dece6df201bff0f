import type { ScriptWords } from '../words/script-words.js';
import { fill } from '../words/words.js';
import { button, find, make } from './dom.js';

/** How long a receipt is shown before the redirect. */
const SECONDS = 8;

export function wireReceipt(): void {
  find('#print')?.addEventListener('click', () => window.print());
  const share = find('#share');
  if (share === undefined || !('share' in navigator)) return;
  share.hidden = false;
  // A share sheet that is closed rejects.
  const open = (): Promise<void> => navigator.share({ title: document.title, url: location.href });
  share.addEventListener('click', () => void open().catch(() => undefined));
}

/** Redirects to the merchant after a while in which the page is visible, unless the buyer chooses to stay. */
export function startRedirect(successUrl: string, words: ScriptWords): void {
  const line = find('#redirect');
  if (line === undefined) return;
  let left = SECONDS;
  const text = make('span');
  const stay = (): void => {
    clearInterval(timer);
    line.hidden = true;
    find('#state')?.focus();
  };
  const show = (): void => {
    text.textContent = fill(words.redirecting, { seconds: String(left) });
  };
  show();
  line.replaceChildren(text, ' ', button(words.stay, 'link', stay));
  line.hidden = false;
  const timer = setInterval(() => {
    if (document.hidden) return;
    left -= 1;
    if (left > 0) {
      show();
      return;
    }
    clearInterval(timer);
    location.assign(successUrl);
  }, 1000);
}
