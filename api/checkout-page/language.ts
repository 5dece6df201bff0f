import { AR, AR_REFUND, AR_TERMS } from './words/ar.js';
import { DE, DE_REFUND, DE_TERMS } from './words/de.js';
import { EN, EN_REFUND, EN_TERMS } from './words/en.js';
import { ES, ES_REFUND, ES_TERMS } from './words/es.js';
import { FR, FR_REFUND, FR_TERMS } from './words/fr.js';
import { HI, HI_REFUND, HI_TERMS } from './words/hi.js';
import { ID, ID_REFUND, ID_TERMS } from './words/id.js';
import { JA, JA_REFUND, JA_TERMS } from './words/ja.js';
import { KO, KO_REFUND, KO_TERMS } from './words/ko.js';
import { PT, PT_REFUND, PT_TERMS } from './words/pt.js';
import type { RefundWords } from './words/refund-words.js';
import { TR, TR_REFUND, TR_TERMS } from './words/tr.js';
import { VI, VI_REFUND, VI_TERMS } from './words/vi.js';
import type { Terms, Words } from './words/words.js';
import { ZH, ZH_REFUND, ZH_TERMS } from './words/zh.js';
import { ZH_TW, ZH_TW_REFUND, ZH_TW_TERMS } from './words/zh-tw.js';

export interface Language {
  tag: string;
  /** The name of the language in that language. */
  name: string;
  direction: 'ltr' | 'rtl';
  words: Words;
  refundWords: RefundWords;
  terms: Terms;
}

type Texts = readonly [Words, RefundWords, Terms];

const ENGLISH = ltr('en', 'English', [EN, EN_REFUND, EN_TERMS]);

export const LANGUAGES: readonly Language[] = [
  ENGLISH,
  ltr('de', 'Deutsch', [DE, DE_REFUND, DE_TERMS]),
  ltr('es', 'Español', [ES, ES_REFUND, ES_TERMS]),
  ltr('fr', 'Français', [FR, FR_REFUND, FR_TERMS]),
  ltr('pt', 'Português', [PT, PT_REFUND, PT_TERMS]),
  ltr('tr', 'Türkçe', [TR, TR_REFUND, TR_TERMS]),
  ltr('id', 'Bahasa Indonesia', [ID, ID_REFUND, ID_TERMS]),
  ltr('vi', 'Tiếng Việt', [VI, VI_REFUND, VI_TERMS]),
  ltr('hi', 'हिन्दी', [HI, HI_REFUND, HI_TERMS]),
  { ...ltr('ar', 'العربية', [AR, AR_REFUND, AR_TERMS]), direction: 'rtl' },
  ltr('ja', '日本語', [JA, JA_REFUND, JA_TERMS]),
  ltr('ko', '한국어', [KO, KO_REFUND, KO_TERMS]),
  // `zh-TW` stands before `zh`, which its tag begins with.
  ltr('zh-TW', '繁體中文', [ZH_TW, ZH_TW_REFUND, ZH_TW_TERMS]),
  ltr('zh', '简体中文', [ZH, ZH_REFUND, ZH_TERMS]),
];

function ltr(tag: string, name: string, [words, refundWords, terms]: Texts): Language {
  return { tag, name, direction: 'ltr', words, refundWords, terms };
}

/** The language of the `lang` query parameter; undefined when it is not supported. */
export function askedLanguage(lang: string | null): Language | undefined {
  return LANGUAGES.find(({ tag }) => tag === lang);
}

const MAX_HEADER_LENGTH = 1000;
/** Language tags of Chinese in traditional characters, named by script or by region. */
const TRADITIONAL = /^zh-(?:hant|tw|hk|mo)\b/;

/** The first supported language in Accept-Language; a regional variant counts as its language. */
export function chooseLanguage(acceptLanguage: string | undefined): Language {
  const wanted = (acceptLanguage ?? '')
    .slice(0, MAX_HEADER_LENGTH)
    .split(',')
    .map(readPreference)
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight);
  for (const { tag } of wanted) {
    const written = TRADITIONAL.test(tag) ? 'zh-TW' : tag;
    const found = LANGUAGES.find((one) => written === one.tag || written.startsWith(`${one.tag}-`));
    if (found !== undefined) return found;
  }
  return ENGLISH;
}

function readPreference(part: string): { tag: string; weight: number } {
  const [tag = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return { tag, weight: quality === undefined ? 1 : Number(quality) || 0 };
}
