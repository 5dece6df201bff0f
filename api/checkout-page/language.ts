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
  /** The name of the language in that language. */
  name: string;
  direction: 'ltr' | 'rtl';
  words: Words;
}

const ENGLISH: Language = { tag: 'en', name: 'English', direction: 'ltr', words: EN };

export const LANGUAGES: readonly Language[] = [
  ENGLISH,
  { tag: 'de', name: 'Deutsch', direction: 'ltr', words: DE },
  { tag: 'es', name: 'Español', direction: 'ltr', words: ES },
  { tag: 'fr', name: 'Français', direction: 'ltr', words: FR },
  { tag: 'pt', name: 'Português', direction: 'ltr', words: PT },
  { tag: 'ar', name: 'العربية', direction: 'rtl', words: AR },
  { tag: 'ja', name: '日本語', direction: 'ltr', words: JA },
  { tag: 'zh', name: '中文', direction: 'ltr', words: ZH },
];

/** The language of the `lang` query parameter; undefined when it is not supported. */
export function askedLanguage(lang: string | null): Language | undefined {
  return LANGUAGES.find(({ tag }) => tag === lang);
}

const MAX_HEADER_LENGTH = 1000;

/** The first supported language in Accept-Language; a regional variant counts as its language. */
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
