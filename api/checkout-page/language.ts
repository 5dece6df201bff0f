import { AR } from './words/ar.js';
import { DE } from './words/de.js';
import { EN } from './words/en.js';
import { ES } from './words/es.js';
import { FR } from './words/fr.js';
import { JA } from './words/ja.js';
import { PT } from './words/pt.js';
import type { Words } from './words/words.js';
import { ZH } from './words/zh.js';

export interface Language {
  tag: string;
  direction: 'ltr' | 'rtl';
  words: Words;
}

const ENGLISH: Language = { tag: 'en', direction: 'ltr', words: EN };

export const LANGUAGES: readonly Language[] = [
  ENGLISH,
  { tag: 'de', direction: 'ltr', words: DE },
  { tag: 'es', direction: 'ltr', words: ES },
  { tag: 'fr', direction: 'ltr', words: FR },
  { tag: 'pt', direction: 'ltr', words: PT },
  { tag: 'ar', direction: 'rtl', words: AR },
  { tag: 'ja', direction: 'ltr', words: JA },
  { tag: 'zh', direction: 'ltr', words: ZH },
];

const MAX_HEADER_LENGTH = 1000;

/** The buyer's first choice among ours; a region's variant counts as its language. */
export function chooseLanguage(acceptLanguage: string | undefined): Language {
  const wanted = (acceptLanguage ?? '')
    .slice(0, MAX_HEADER_LENGTH)
    .split(',')
    .map(readPreference)
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight);
  for (const { tag } of wanted) {
    const found = LANGUAGES.find((language) => tag === language.tag || tag.startsWith(`${language.tag}-`));
    if (found !== undefined) return found;
  }
  return ENGLISH;
}

function readPreference(part: string): { tag: string; weight: number } {
  const [tag = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return { tag, weight: quality === undefined ? 1 : Number(quality) || 0 };
}
