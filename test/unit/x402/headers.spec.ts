import assert from 'node:assert/strict';
import { type DecodedHeader, decodePaymentHeader, encodeHeader } from '../../../shared/x402/headers.js';

const V2 = { x402Version: 2, accepted: { scheme: 'exact' }, payload: { signature: '0x' } };
const V1 = { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload: { signature: '0x' } };

const DECODED_V2: DecodedHeader = { kind: 'v2', accepted: V2.accepted, payload: V2.payload };
const DECODED_V1: DecodedHeader = {
  kind: 'v1',
  scheme: 'exact',
  network: 'base-sepolia',
  payload: V1.payload,
};

const LARGEST = 16 * 1024;

describe('encoding an x402 header', () => {
  it('is padded standard base64 of UTF-8 JSON', () => {
    for (const name of ['USD₮0', 'é', '🙂', 'ab', 'abc', 'abcd', '>>>???']) {
      const text = encodeHeader({ name });
      assert.match(text, /^[A-Za-z0-9+/]+={0,2}$/);
      assert.equal(text.length % 4, 0);
      assert.deepEqual(JSON.parse(Buffer.from(text, 'base64').toString('utf8')), { name });
    }
  });
});

describe('decoding a payment header', () => {
  it('reads version 2', () => {
    assert.deepEqual(decode(V2), DECODED_V2);
  });

  it('reads version 1', () => {
    assert.deepEqual(decode(V1), DECODED_V1);
  });

  it('ignores unknown fields', () => {
    const decoded = decode({ ...V2, scheme: 'exact', network: 'x', extensions: {}, resource: null });
    assert.deepEqual(decoded, DECODED_V2);
  });

  describe('accepts base64', () => {
    // The standard base64 of this text contains +, / and padding.
    const value = { ...V2, note: '->>>???~~~ÿþ' };
    const standard = Buffer.from(JSON.stringify(value)).toString('base64');

    assert.match(standard, /\+.*\/.*=$/);

    for (const [title, text] of Object.entries({
      'in the standard alphabet, padded': standard,
      'in the standard alphabet, not padded': standard.replace(/=+$/, ''),
      'in the URL-safe alphabet, padded': standard.replaceAll('+', '-').replaceAll('/', '_'),
      'in the URL-safe alphabet, not padded': Buffer.from(JSON.stringify(value)).toString('base64url'),
      'with space around it': `\t ${standard} `,
    })) {
      it(title, () => assert.deepEqual(decodePaymentHeader(text), DECODED_V2));
    }
  });

  describe('finds malformed', () => {
    const base64 = encodeHeader(V2);

    for (const [title, text] of Object.entries({
      'no text': '',
      'a character of neither alphabet': `${base64.slice(0, 8)}*${base64.slice(9)}`,
      'a NUL': `${base64}\u0000`,
      'space inside': `${base64.slice(0, 8)} ${base64.slice(8)}`,
      'an impossible length': `${base64.replace(/=+$/, '').slice(0, 20)}A`,
      'padding in the middle': `${Buffer.from('{').toString('base64')}${base64}`,
      'too much padding': 'e30===',
      'half of the padding': 'ew=',
      'base64 of plain text': Buffer.from('hello').toString('base64'),
      'base64 of Latin-1': Buffer.from(JSON.stringify({ ...V2, note: 'é' }), 'latin1').toString('base64'),
      'base64 twice': Buffer.from(base64).toString('base64'),
      'half of a JSON object': encodeText('{"x402Version":2,'),
      'an array': encodeHeader([V2]),
      null: encodeText('null'),
      'a string': encodeText('"x"'),
      'an empty object': encodeHeader({}),
    })) {
      it(title, () => assert.equal(decodePaymentHeader(text).kind, 'malformed'));
    }

    for (const [title, [field, value]] of Object.entries<[field: string, value: object]>({
      'no version': ['x402Version', { ...V2, x402Version: undefined }],
      'a version that is a string': ['x402Version', { ...V2, x402Version: '2' }],
      'no accepted': ['accepted', { ...V2, accepted: undefined }],
      'an accepted that is null': ['accepted', { ...V2, accepted: null }],
      'an accepted that is a string': ['accepted', { ...V2, accepted: 'exact' }],
      'no payload': ['payload', { ...V2, payload: undefined }],
      'a payload that is null': ['payload', { ...V2, payload: null }],
      'a payload that is an array': ['payload', { ...V2, payload: [] }],
      'a payload that is a string': ['payload', { ...V2, payload: '0x' }],
      'version 1 without a payload': ['payload', { ...V1, payload: undefined }],
      'version 1 with a payload that is a string': ['payload', { ...V1, payload: '0x' }],
      'version 1 without a scheme': ['scheme', { ...V1, scheme: undefined }],
      'version 1 without a network': ['network', { ...V1, network: undefined }],
      'version 1 with a network that is a number': ['network', { ...V1, network: 84532 }],
      'version 2 in the form of version 1': ['accepted', { ...V1, x402Version: 2 }],
      'another version that names no entry': ['accepted', { x402Version: 3, payload: {} }],
    })) {
      it(title, () => {
        const decoded = decode(value);
        assert.equal(decoded.kind, 'malformed');
        assert.ok(decoded.reason.startsWith(`\`${field}\` is missing or not a`), decoded.reason);
      });
    }
  });

  describe('recognizes another version', () => {
    for (const x402Version of [0, 1, 3, -2, 2.5, 1e300]) {
      it(`${x402Version}, with all that version 2 has`, () => {
        assert.deepEqual(decode({ ...V2, x402Version }), { kind: 'other_version' });
      });
    }
  });

  describe('has room for 16 KiB', () => {
    it('to the last character', () => {
      const text = paddedTo(LARGEST);
      assert.equal(text.length, LARGEST);
      assert.equal(decodePaymentHeader(text).kind, 'v2');
    });

    it('and no more', () => {
      const decoded = decodePaymentHeader(paddedTo(LARGEST + 4));
      assert.equal(decoded.kind, 'malformed');
      assert.match(decoded.reason, /16384/);
    });

    it('not counting the space around it', () => {
      assert.equal(decodePaymentHeader(`  ${paddedTo(LARGEST)}  `).kind, 'v2');
    });

    it('and refuses a megabyte quickly', () => {
      assert.equal(decodePaymentHeader('A'.repeat(1_000_000)).kind, 'malformed');
    });
  });

  describe('survives', () => {
    const inPayload = (text: string): string => JSON.stringify(V2).replace('"0x"', text);
    for (const [title, [kind, text]] of Object.entries<[kind: DecodedHeader['kind'], text: string]>({
      'arrays as deep as fit': ['v2', inPayload(`${'['.repeat(5_500)}${']'.repeat(5_500)}`)],
      'objects as deep as fit': ['v2', inPayload(`${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`)],
      'unclosed arrays': ['malformed', '['.repeat(12_000)],
      'the same key twice: the last one counts': ['v2', inPayload('1').replace('{', '{"x402Version":1,')],
      'numbers beyond the range of a double': ['other_version', inPayload('1').replace(':2', ':1e999')],
      'NUL and lone surrogates inside': ['v2', inPayload('"\\u0000\\ud800"')],
    })) {
      it(title, () => {
        assert.ok(encodeText(text).length <= LARGEST);
        assert.equal(decodePaymentHeader(encodeText(text)).kind, kind);
      });
    }

    it('keys that name the prototype', () => {
      for (const key of ['__proto__', 'constructor', 'prototype']) {
        const inside = `{"${key}":{"x402Version":2,"accepted":{},"payload":{},"polluted":true}}`;
        assert.equal(decodePaymentHeader(encodeText(inside)).kind, 'malformed');
      }
      assert.equal('polluted' in {}, false);
    });

    it('fields that lie in a prototype only', () => {
      const text = '{"x402Version":2,"accepted":{"__proto__":{"scheme":"exact"}},"payload":{}}';
      const decoded = decodePaymentHeader(encodeText(text));
      assert.equal(decoded.kind, 'v2');
      assert.equal(decoded.accepted.scheme, undefined);
    });
  });
});

function decode(value: object): DecodedHeader {
  return decodePaymentHeader(encodeHeader(value));
}

function encodeText(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** A version 2 payload whose header has this many characters. */
function paddedTo(length: number): string {
  const bytes = (length / 4) * 3;
  const empty = JSON.stringify({ ...V2, note: '' }).length;
  return encodeHeader({ ...V2, note: 'x'.repeat(bytes - empty) });
}
