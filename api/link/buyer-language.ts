import type { Response } from 'express';
import { askedLanguage, chooseLanguage, type Language } from '../checkout-page/language.js';

export function languageOf(res: Response): Language {
  return askedByBuyer(res) ?? chooseLanguage(res.req.get('Accept-Language'));
}

/** The `lang` parameter; other query parameters are ignored. */
export function askedByBuyer({ req }: Response): Language | undefined {
  const [, query] = req.originalUrl.split('?', 2);
  return askedLanguage(new URLSearchParams(query).get('lang'));
}
