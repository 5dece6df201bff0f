import { _, Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { hostAndPort, parseUrl } from '../../shared/values/parse-url.js';

/** The ajv instance of the API: strict schemas, first error only, custom formats. */
export const ajv = new Ajv({
  strict: true,
  allErrors: false,
  keywords: ['lowerCase'],
  // Ajv would check each schema of this program by a schema that takes 50 ms to compile, with the first request.
  meta: false,
  validateSchema: false,
});
// Ajv counts the characters of every string, which takes half of the time of the largest legal create.
ajv.removeKeyword('maxLength');
ajv.addKeyword({
  keyword: 'maxLength',
  type: 'string',
  schemaType: 'number',
  // Patterns and formats are not matched with longer texts.
  before: 'minLength',
  error: {
    message: 'must NOT have more characters',
    params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
  },
  code(context) {
    const { gen, data, schemaCode } = context;
    const isLonger = gen.scopeValue('func', { ref: isLongerThan });
    context.fail(_`${data}.length > ${schemaCode} && ${isLonger}(${data}, ${schemaCode})`);
  },
});
addFormats.default(ajv, ['email', 'uri']);
for (const name of ['http-url', 'webhook-url']) {
  ajv.addFormat(name, (text) => isUrl(text, ['http:', 'https:']));
}
// A request has hundreds of these: internationalized host names are left to `requireImageHosts`, which yields to
// other requests.
ajv.addFormat('https-url', (text) =>
  isUrl(text, ['https:'], (host) => isInternational(host) || isHost(host)),
);

/** A character is one or two units of UTF-16. */
function isLongerThan(text: string, limit: number): boolean {
  return text.length > 2 * limit || [...text].length > limit;
}

function isUrl(text: string, schemes: readonly string[], accepts = isHost): boolean {
  // The URL parser would strip white space and control characters, which a redirect would still send.
  if (/[\s\p{Cc}\\]/u.test(text)) return false;
  const [, scheme = '', authority = ''] = /^([a-z]+:)\/\/([^/?#]+)/i.exec(text) ?? [];
  return schemes.includes(scheme.toLowerCase()) && accepts(hostAndPort(authority));
}

/** A valid host makes the URL valid; parsing the rest too would take many times as long. */
export function isHost(host: string): boolean {
  return parseUrl(`https://${host}`) !== undefined;
}

/** True for a host with characters outside of ASCII. */
export function isInternational(host: string): boolean {
  return /\P{ASCII}/u.test(host);
}
