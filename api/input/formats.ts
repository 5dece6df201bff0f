import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { parseUrl } from '../../shared/parse-url.js';

/** The one ajv of the API: strict schemas, first error only, and the formats that our schemas name. */
export const ajv = new Ajv({ strict: true, allErrors: false, keywords: ['lowerCase'] });
addFormats.default(ajv, ['email', 'uri']);
ajv.addFormat('http-url', (text) => isUrl(text, ['http:', 'https:']));
ajv.addFormat('https-url', (text) => isUrl(text, ['https:']));

function isUrl(text: string, schemes: readonly string[]): boolean {
  // The URL parser strips white space and control characters that a redirect would carry on.
  if (!/^[a-z]+:\/\/[^/]/i.test(text) || /[\s\p{Cc}\\]/u.test(text)) return false;
  const url = parseUrl(text);
  return url !== undefined && schemes.includes(url.protocol);
}
