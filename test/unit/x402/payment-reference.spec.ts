import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { newId } from '../../../shared/values/ids.js';
import { createPaymentReferences } from '../../../shared/x402/payment-reference.js';

const OLD_KEY = randomBytes(32);
const NEW_KEY = randomBytes(32);
const PREFIXES = ['cs_test_', 'cs_live_', 're_'] as const;
const references = createPaymentReferences([OLD_KEY]);

describe('the reference that a payment carries on its chain', () => {
  for (const prefix of PREFIXES) {
    it(`names a ${prefix} in a nonce of 32 bytes, another one each time`, () => {
      const id = newId(prefix);
      const nonces = Array.from({ length: 50 }, () => references.nonceOf(id));
      assert.equal(new Set(nonces).size, 50);
      for (const nonce of nonces) {
        assert.match(nonce, /^0x[\da-f]{64}$/);
        for (const spelling of [nonce, nonce.toUpperCase().replace('0X', '0x')])
          assert.deepEqual(references.read(spelling), { payableId: id, isFixed: false });
      }
    });

    it(`names a ${prefix} in a memo of 43 characters, the same for each offer`, () => {
      const id = newId(prefix);
      const memo = references.memoOf(id, 'fixed');
      assert.match(memo, /^[\w-]{43}$/);
      assert.equal(references.memoOf(id, 'fixed'), memo);
      assert.deepEqual(references.read(memo), { payableId: id, isFixed: true });
      const fresh = references.memoOf(id, 'fresh');
      assert.notEqual(fresh, memo);
      assert.deepEqual(references.read(fresh), { payableId: id, isFixed: false });
    });
  }

  it('names ids of every size', () => {
    for (const digits of ['0'.repeat(28), 'z'.repeat(28), `0${'z'.repeat(27)}`]) {
      assert.equal(references.read(references.nonceOf(`re_${digits}`))?.payableId, `re_${digits}`);
    }
  });

  it('is not made for anything but a session or a refund', () => {
    for (const id of ['pay_'.padEnd(32, 'a'), 'cs_test_1', 're_', `cs_test_${'-'.repeat(28)}`, '']) {
      assert.throws(() => references.nonceOf(id));
    }
  });

  it("shows nothing of its id, and looks like a stranger's nonce without the key", () => {
    const id = newId('cs_test_');
    const others = createPaymentReferences([NEW_KEY]);
    const nonces = Array.from({ length: 20 }, () => references.nonceOf(id).slice(2));
    for (const nonce of nonces) assert.equal(others.read(`0x${nonce}`), undefined);
    // No byte is the same in all of them.
    for (let at = 0; at < 64; at += 2) {
      assert.ok(new Set(nonces.map((nonce) => nonce.slice(at, at + 2))).size > 1, `byte ${at / 2}`);
    }
  });

  it('is not recognized once a single bit of it differs', () => {
    const nonce = Buffer.from(references.nonceOf(newId('cs_test_')).slice(2), 'hex');
    for (let bit = 0; bit < 256; bit += 1) {
      const changed = Buffer.from(nonce);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.equal(references.read(`0x${changed.toString('hex')}`), undefined, `bit ${bit}`);
    }
  });

  it("is never seen in strangers' nonces and memos", () => {
    for (let drawn = 0; drawn < 2000; drawn += 1) {
      assert.equal(references.read(`0x${randomBytes(32).toString('hex')}`), undefined);
      assert.equal(references.read(randomBytes(32).toString('base64url')), undefined);
    }
    for (const text of ['', '0x', 'a memo', `0x${'0'.repeat(63)}`, 'ü'.repeat(43), '0'.repeat(64)]) {
      assert.equal(references.read(text), undefined);
    }
  });

  it('is read with every key of a rotation, and made with the first', () => {
    const id = newId('re_');
    const old = references.nonceOf(id);
    const rotated = createPaymentReferences([NEW_KEY, OLD_KEY]);
    assert.equal(rotated.read(old)?.payableId, id);
    assert.equal(references.read(rotated.nonceOf(id)), undefined);
    assert.equal(createPaymentReferences([NEW_KEY]).read(rotated.memoOf(id, 'fixed'))?.payableId, id);
  });
});
