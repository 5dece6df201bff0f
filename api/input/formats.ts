import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { hostAndPort, parseUrl } from '../../shared/values/parse-url.js';

/** The one ajv of the API: strict schemas, first error only, and the formats that our schemas name. */
export const ajv = new Ajv({ strict: true, allErrors: false, keywords: ['lowerCase'] });
addFormats.default(ajv, ['email', 'uri']);
ajv.addFormat('http-url', (text) => isUrl(text, ['http:', 'https:']));
// Of these a request has hundreds: an international name is left to `requireImageHosts`, which takes its time.
ajv.addFormat('https-url', (text) =>
  isUrl(text, ['https:'], (host) => isInternational(host) || isHost(host)),
);

function isUrl(text: string, schemes: readonly string[], accepts = isHost): boolean {
  // The URL parser strips white space and control characters that a redirect would carry on.
  if (/[\s\p{Cc}\\]/u.test(text)) return false;
  const [, scheme = '', authority = ''] = /^([a-z]+:)\/\/([^/?#]+)/i.exec(text) ?? [];
  return schemes.includes(scheme.toLowerCase()) && accepts(hostAndPort(authority));
}

/** Whatever stands around it then makes a URL; parsing that as well would take many times as long. */
export function isHost(host: string): boolean {
  return parseUrl(`https://${host}`) !== undefined;
}

/** It holds other letters than ASCII. */
export function isInternational(host: string): boolean {
  return /\P{ASCII}/u.test(host);
}
