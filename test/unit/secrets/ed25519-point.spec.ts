import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { whyNoPublicKey } from '../../../shared/secrets/ed25519-point.js';

const point = (hex: string): Buffer => Buffer.from(hex, 'hex');
/** All eight points whose order divides 8, as RFC 8032 encodes them. */
const SMALL_ORDER = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
];
const NO_POINT = [
  // y = 2: the square of x would be no square.
  `02${'00'.repeat(31)}`,
  // The same points as 0 and 1, with a y that is not reduced.
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'ff'.repeat(32),
  // A negative zero.
  `01${'00'.repeat(30)}80`,
];

describe('an Ed25519 public key', () => {
  it('is a point of the curve of large order', () => {
    for (let i = 0; i < 20; i++) {
      const der = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' });
      assert.equal(whyNoPublicKey(der.subarray(-32)), undefined);
    }
  });

  for (const hex of SMALL_ORDER) {
    it(`is not ${hex}, of small order`, () => {
      assert.equal(whyNoPublicKey(point(hex)), 'a point of small order');
    });
  }

  for (const hex of NO_POINT) {
    it(`is not ${hex}, which is no point`, () => {
      assert.equal(whyNoPublicKey(point(hex)), 'no point of the curve');
    });
  }
});
