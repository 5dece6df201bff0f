import type { ScriptWords } from '../words/words.js';
import { announce, button, find, make, spinner } from './dom.js';

/** In the place of the choice: what is going on, and a way out of it while there is one. */
export function showStep(
  title: string,
  text: string,
  words: ScriptWords,
  cancel: (() => void) | undefined,
): void {
  const step = find('#step');
  const choose = find('#choose');
  if (step === undefined || choose === undefined) return;
  const heading = make('h2', { tabindex: '-1' }, title);
  step.replaceChildren(
    make(
      'div',
      { class: 'state' },
      spinner(),
      heading,
      make('p', {}, text),
      ...(cancel === undefined ? [] : [make('p', {}, button(words.cancel, 'quiet', cancel))]),
    ),
  );
  clearNotice();
  step.hidden = false;
  choose.hidden = true;
  heading.focus();
  announce(`${title}. ${text}`);
}

export function hideStep(): void {
  const step = find('#step');
  const choose = find('#choose');
  if (step === undefined || choose === undefined || step.hidden) return;
  step.replaceChildren();
  step.hidden = true;
  choose.hidden = false;
  find('#state')?.focus();
}

export interface Notice {
  title: string;
  lines: readonly string[];
  action?: { label: string; run: () => void };
}

/** #notice is an alert: screen readers say it as it comes. */
export function showNotice({ title, lines, action }: Notice): void {
  const box = make('div', { class: 'notice failed' });
  const words = make('div', {}, make('p', {}, make('strong', {}, title)));
  const text = lines.filter((line) => line !== '').join(' ');
  if (text !== '') words.append(make('p', {}, text));
  if (action !== undefined) words.append(make('p', {}, button(action.label, 'quiet', action.run)));
  box.append(words);
  find('#notice')?.replaceChildren(box);
}

export function clearNotice(): void {
  find('#notice')?.replaceChildren();
}
