import type { ScriptWords } from '../words/script-words.js';
import { announce, findAll } from './dom.js';

/** Wires the elements that need the script, in any state. */
export function wireParts(language: string, words: ScriptWords): void {
  for (const element of findAll('[data-script]')) element.hidden = false;
  for (const element of findAll('time[datetime]')) localize(element, language);
  for (const element of findAll('[data-copy]')) {
    copyOnPress(element, element.dataset.copy ?? '', words);
  }
}

function copyOnPress(element: HTMLElement, text: string, words: ScriptWords): void {
  const label = element.textContent ?? '';
  element.addEventListener('click', () => void copy(element, text, label, words));
}

/** The server renders times in UTC. The long style names the zone: a receipt on paper is read elsewhere. */
function localize(element: HTMLElement, language: string): void {
  const date = new Date(element.getAttribute('datetime') ?? '');
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'long' });
  element.textContent = format.format(date);
}

async function copy(element: HTMLElement, text: string, label: string, words: ScriptWords): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without clipboard permission, a prompt shows the text selected for copying.
    window.prompt(label, text);
    return;
  }
  element.textContent = words.copied;
  announce(words.copied);
  setTimeout(() => {
    element.textContent = label;
  }, 3000);
}
