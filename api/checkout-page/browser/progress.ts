import type { PageData } from '../page-data.js';
import { find, findAll, make } from './dom.js';
import { countElapsed } from './elapsed.js';
import { showStep } from './steps.js';

/** What is done with a signed payment. It can no longer be given up, so nothing here leads away from it. */
export type Progress = 'sending' | 'checking' | 'waiting';

/** `seconds` since it was signed. */
export function showProgress(
  step: Progress,
  { words, language, sessionId }: PageData,
  seconds: () => number,
): void {
  showStep(words[step], words[`${step}Text`], {}, words, undefined);
  allowLeaving(false);
  find('#step .state')?.append(
    make('p', { class: 'detail', id: 'elapsed', role: 'timer' }),
    make(
      'div',
      { class: 'late', id: 'late', hidden: '' },
      make('p', {}, words.lateSending),
      make('p', {}, make('code', { dir: 'ltr' }, sessionId)),
    ),
  );
  countElapsed(seconds, language, words);
}

/** The link back to the merchant. */
export function allowLeaving(isAllowed: boolean): void {
  for (const element of findAll('.back')) element.hidden = !isAllowed;
}
