import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSecretBox } from '../../../shared/secrets/secrets.js';

describe('the secret box', () => {
  const [older, newer] = [randomBytes(32), randomBytes(32)];

  it('opens its sealed secrets, and never seals to the same text twice', () => {
    const box = createSecretBox([newer]);
    const sealed = box.seal('whsec_é€');
    assert.equal(box.open(sealed), 'whsec_é€');
    assert.ok(!sealed.includes('whsec'));
    assert.notEqual(box.seal('whsec_é€'), sealed);
  });

  it('opens old secrets while a key is rotated, and seals with the new key', () => {
    const sealed = createSecretBox([older]).seal('a');
    const rotating = createSecretBox([newer, older]);
    assert.equal(rotating.open(sealed), 'a');
    assert.equal(createSecretBox([newer]).open(rotating.seal('b')), 'b');
  });

  it('names the key that is missing', () => {
    const sealed = createSecretBox([older]).seal('a');
    assert.throws(
      () => createSecretBox([newer]).open(sealed),
      /encrypted with key [0-9a-f]{8}, which ENCRYPTION_KEY lacks/,
    );
  });

  it('refuses a secret that was tampered with', () => {
    const box = createSecretBox([newer]);
    const [id, nonce, body = ''] = box.seal('secret').split('.');
    const bytes = Buffer.from(body, 'base64url');
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    assert.throws(() => box.open(`${id}.${nonce}.${bytes.toString('base64url')}`));
  });
});
