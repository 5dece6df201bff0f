import assert from 'node:assert/strict';
import { isValidPaymentId } from '@x402/extensions/payment-identifier';
import fc from 'fast-check';
import { decodePaymentHeader, encodeHeader } from '../../../shared/x402/headers.js';
import { readPaymentIdentifier } from '../../../shared/x402/payment-identifier.js';

const V2 = { x402Version: 2, accepted: { scheme: 'exact' }, payload: { signature: '0x' } };
const ID = 'pay_7d5d747be160e280504c099d984bcfe0';

const named = (id: unknown): object => ({ 'payment-identifier': { info: { required: false, id } } });

describe('reading a payment identifier', () => {
  it("returns the buyer's id", () => {
    assert.deepEqual(readPaymentIdentifier(named(ID)), { ok: true, id: ID });
  });

  it('accepts the same texts as the stock package', () => {
    const letters = fc.constantFrom(...'abzABZ0189-_ .é\n');
    const texts = fc.oneof(
      fc.string({ unit: letters, minLength: 14, maxLength: 130 }),
      fc.string({ unit: fc.constantFrom(...'aZ0-_'), minLength: 14, maxLength: 130 }),
    );
    fc.assert(
      fc.property(texts, (id) => {
        assert.equal(readPaymentIdentifier(named(id)).ok, isValidPaymentId(id));
      }),
      { numRuns: 2000 },
    );
  });

  it('reads any JSON without throwing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (one, two, three) => {
        for (const value of [one, { 'payment-identifier': two }, { 'payment-identifier': { info: three } }]) {
          assert.equal(typeof readPaymentIdentifier(value).ok, 'boolean');
        }
      }),
    );
  });

  it('refuses a name of another type, and another form of the extension', () => {
    const others = [{ info: ID }, { info: [ID] }, ID, [{ info: { id: ID } }]].map((one) => ({
      'payment-identifier': one,
    }));
    for (const extensions of [named(1_234_567_890_123_456), named([ID]), ...others])
      assert.equal(readPaymentIdentifier(extensions).ok, false, JSON.stringify(extensions));
  });

  it('is absent without the extension, its `info` or its `id`', () => {
    const others = [null, { schema: {} }].map((one) => ({ 'payment-identifier': one }));
    for (const extensions of [null, [], { bazaar: { info: {} } }, named(null), ...others])
      assert.deepEqual(readPaymentIdentifier(extensions), { ok: true, id: undefined });
  });

  it('ignores inherited properties', () => {
    const extensions = JSON.parse(`{"__proto__":{"payment-identifier":{"info":{"id":"${ID}"}}}}`);
    assert.deepEqual(readPaymentIdentifier(extensions), { ok: true, id: undefined });
  });

  it('is part of reading the header: kept, absent, or a reason to refuse it', () => {
    const decode = (extensions: unknown): object => decodePaymentHeader(encodeHeader({ ...V2, extensions }));
    const { accepted, payload } = V2;
    assert.deepEqual(decode(named(ID)), { kind: 'v2', accepted, payload, identifier: ID });
    assert.deepEqual(decode(named(undefined)), { kind: 'v2', accepted, payload });
    assert.deepEqual(decode(named('short')), {
      kind: 'malformed',
      reason:
        'The extension `payment-identifier` needs an `info.id` of 16 to 128 letters, digits, hyphens and underscores.',
    });
  });
});
