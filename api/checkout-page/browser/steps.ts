import type { ScriptWords } from '../words/script-words.js';
import { fill } from '../words/words.js';
import { announce, button, find, make, sentence, spinner } from './dom.js';
import { firstHeading, isUnread } from './uncertain.js';

let pageTitle = document.title;

/** Replaces the choice by the current step, with a cancel button if possible. The document title shows it too. */
export function showStep(
  title: string,
  text: string,
  values: Readonly<Record<string, string>>,
  words: ScriptWords,
  cancel: (() => void) | undefined,
  details: readonly Node[] = [],
): void {
  const step = find('#step');
  const choose = find('#choose');
  if (step === undefined || choose === undefined) return;
  if (step.hidden) pageTitle = document.title;
  document.title = fill(title, values);
  const heading = make('h2', { tabindex: '-1' }, ...sentence(title, values));
  step.replaceChildren(
    make(
      'div',
      { class: 'state' },
      spinner(),
      heading,
      make('p', {}, ...sentence(text, values)),
      ...details,
      ...(cancel === undefined ? [] : [make('p', {}, button(words.cancel, 'quiet', cancel))]),
    ),
  );
  clearNotice();
  step.hidden = false;
  choose.hidden = true;
  heading.focus();
  announce(fill(`${title}. ${text}`, values));
}

export function hideStep(): void {
  const step = find('#step');
  const choose = find('#choose');
  if (step === undefined || choose === undefined || step.hidden) return;
  step.replaceChildren();
  step.hidden = true;
  document.title = pageTitle;
  choose.hidden = isUnread();
  firstHeading()?.focus();
}

export interface Notice {
  title: string;
  lines: readonly string[];
  values?: Readonly<Record<string, string>>;
  action?: { label: string; run: () => void };
}

/** #notice has role alert: screen readers announce it when it is filled. */
export function showNotice({ title, lines, values = {}, action }: Notice): void {
  const words = make('div', {}, make('p', {}, make('strong', {}, ...sentence(title, values))));
  const text = lines.filter((line) => line !== '').join(' ');
  if (text !== '') words.append(make('p', {}, text));
  if (action !== undefined) words.append(make('p', {}, button(action.label, 'quiet', action.run)));
  find('#notice')?.replaceChildren(make('div', { class: 'notice failed' }, words));
}

export function clearNotice(): void {
  find('#notice')?.replaceChildren();
}
