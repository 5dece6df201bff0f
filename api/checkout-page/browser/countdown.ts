import type { ScriptWords } from '../words/script-words.js';
import { fill } from '../words/words.js';
import { announce, find } from './dom.js';
import type { ServerClock } from './server-clock.js';

const HOUR = 3600;
const ANNOUNCED_AT_SECONDS = [300, 60];

export interface Times {
  /** Unix seconds on the server's clock. */
  created: number;
  expiresAt: number;
}

/**
 * Shows the countdown in the last quarter of the lifetime; calls `onEnd` at its end. Returns a function that stops
 * it.
 */
export function startCountdown(
  { created, expiresAt }: Times,
  clock: ServerClock,
  language: string,
  words: ScriptWords,
  onEnd: () => void,
): () => void {
  const tick = (): void => {
    const left = Math.ceil(expiresAt - clock.now());
    const element = find('#countdown');
    if (element !== undefined && left * 4 < expiresAt - created) {
      element.hidden = false;
      const text = fill(words.timeLeft, { time: duration(Math.max(left, 0), language) });
      if (element.textContent !== text) element.textContent = text;
      if (ANNOUNCED_AT_SECONDS.includes(left)) announce(text);
    }
    if (left <= 0) onEnd();
  };
  tick();
  const timer = setInterval(tick, 1000);
  return () => clearInterval(timer);
}

export function duration(seconds: number, language: string): string {
  const unit = (value: number, name: string): string =>
    new Intl.NumberFormat(language, { style: 'unit', unit: name, unitDisplay: 'short' }).format(value);
  const minutes = Math.floor(seconds / 60);
  if (seconds >= HOUR) return `${unit(Math.floor(minutes / 60), 'hour')} ${unit(minutes % 60, 'minute')}`;
  return `${minutes}:${String(seconds % 60).padStart(2, '0')}`;
}
