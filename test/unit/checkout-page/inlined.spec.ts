import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { inline } from '../../../api/checkout-page/inlined.js';

describe('a script or style sheet inside a document', () => {
  it('is allowed by the hash of its text in UTF-8', () => {
    const { element, source } = inline('script', 'say("…")');
    assert.equal(element, '<script>say("…")</script>');
    assert.equal(source, `'sha256-${createHash('sha256').update('say("…")', 'utf8').digest('base64')}'`);
  });

  for (const text of ['"</script>"', '"</Style "', '"<!--"', 'a\r\nb', 'a\0b']) {
    it(`is refused with ${JSON.stringify(text)}, which a browser reads as something else`, () => {
      assert.throws(() => inline('script', text), /cannot be inside/);
      assert.throws(() => inline('style', text), /cannot be inside/);
    });
  }
});
