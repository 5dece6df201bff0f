import type { PageData } from '../page-data.js';
import { find, findAll, make } from './dom.js';
import { countElapsed } from './elapsed.js';
import { showStep } from './steps.js';

/** The steps of sending a signed payment. It cannot be cancelled, so nothing here links away from the page. */
export type Progress = 'sending' | 'checking' | 'waiting';

/** `seconds`: since the payment was signed. */
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

/** Shows or hides the link back to the merchant. */
export function allowLeaving(isAllowed: boolean): void {
  for (const element of findAll('.back')) element.hidden = !isAllowed;
}
