import { LATE_SECONDS } from '../late.js';
import type { ScriptWords } from '../words/script-words.js';
import { fill } from '../words/words.js';
import { duration } from './countdown.js';
import { announce, find } from './dom.js';

/** Shows the elapsed time in #elapsed while it is in the document, and #late after LATE_SECONDS. */
export function countElapsed(seconds: () => number, language: string, words: ScriptWords): void {
  const element = find('#elapsed');
  if (element === undefined) return;
  const tick = (): void => {
    if (!element.isConnected) {
      clearInterval(timer);
      return;
    }
    const passed = Math.max(Math.floor(seconds()), 0);
    element.textContent = fill(words.elapsed, { time: duration(passed, language) });
    const late = find('#late');
    if (passed < LATE_SECONDS || late === undefined || !late.hidden) return;
    late.hidden = false;
    announce(late.textContent ?? '');
  };
  const timer = setInterval(tick, 1000);
  tick();
}
