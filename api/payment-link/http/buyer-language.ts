import type { Response } from 'express';
import { askedLanguage, chooseLanguage, type Language } from '../../checkout-page/language.js';
import { linkQuery } from '../../input/link-query.js';

export function languageOf(res: Response): Language {
  return askedByBuyer(res) ?? chooseLanguage(res.req.get('Accept-Language'));
}

/** The `lang` parameter; other query parameters are ignored. */
export function askedByBuyer({ req }: Response): Language | undefined {
  return askedLanguage(linkQuery(req.originalUrl).get('lang'));
}
