import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ajv } from '../../../api/input/formats.js';
import { hostAsWritten, parseUrl } from '../../../shared/values/parse-url.js';

const LONGEST = 'ü'.repeat(253);
const BEYOND = `${LONGEST}ü`;
/** Notations of a host that the URL parser accepts. */
const SPELLINGS: [what: string, spell: (host: string) => string][] = [
  ['plainly', (host) => `https://${host}/path`],
  ['over http, with a port', (host) => `HTTP://${host}:8080?query`],
  ['over other schemes', (host) => `wss://${host}#fragment`],
  ['behind a user name with many @', (host) => `https://a@b:c@@${host}`],
  ['without slashes', (host) => `https:${host}/`],
  ['with one slash', (host) => `https:/${host}`],
  ['with many slashes', (host) => `https://////${host}`],
  ['with backslashes', (host) => `https:\\\\${host}\\path`],
  ['after spaces and control characters', (host) => ` \u0001\n https://${host}`],
  ['with tabs and line ends within', (host) => `ht\ttp\r\ns:/\n/${host.slice(0, 9)}\t\n${host.slice(9)}`],
];

describe('a URL’s host', () => {
  for (const [how, spell] of SPELLINGS) {
    it(`is accepted up to 253 characters, written ${how}, and is not parsed beyond`, () => {
      assert.equal(hostAsWritten(spell(LONGEST)), LONGEST);
      assert.equal(parseUrl(spell(LONGEST))?.hostname, new URL(spell(LONGEST)).hostname);
      assert.doesNotThrow(() => new URL(spell(BEYOND)));
      assert.equal(parseUrl(spell(BEYOND)), undefined);
    });
  }

  it('is counted in characters, not in the units of a string', () => {
    assert.ok(parseUrl(`https://${'\u{20000}'.repeat(253)}/`));
    assert.equal(parseUrl(`https://${'\u{20000}'.repeat(254)}/`), undefined);
  });

  it('is expected only where the parser expects one', () => {
    const long = 'x'.repeat(3000);
    for (const text of [
      `https://a/${long}`,
      `https://a?${long}`,
      `https://${long}@a/`,
      `redis://${long}/`,
      `data:${long}`,
    ]) {
      assert.ok(parseUrl(text), text.slice(0, 30));
    }
    assert.equal(parseUrl(long), undefined);
  });

  it('has to be parsable for the format http-url, whatever surrounds it', () => {
    const isHttp = ajv.compile({ type: 'string', format: 'http-url' });
    const part = fc.constantFrom(
      'a',
      'ü',
      '@',
      ':',
      '/',
      '?',
      '#',
      '.',
      '[',
      ']',
      '::1',
      '80',
      '99999',
      '%41',
      '%',
      '1.2',
      'xn--',
      'é',
      '*',
      '^',
      ' ',
      '\\',
      '\t',
      '\u3002',
      '\ufdfa',
      '<',
    );
    fc.assert(
      fc.property(
        fc.constantFrom('https:', 'HTTP:', 'ftp:', ''),
        fc.array(part, { maxLength: 8 }),
        (scheme, parts) => {
          const text = `${scheme}//${parts.join('')}`;
          const isShaped = /^[a-z]+:\/\/[^/]/i.test(text) && !/[\s\p{Cc}\\]/u.test(text);
          const expected = isShaped && /^https?:$/.test(parseUrl(text)?.protocol ?? '');
          assert.equal(isHttp(text), expected, text);
        },
      ),
      { numRuns: 5000 },
    );
  });
});
