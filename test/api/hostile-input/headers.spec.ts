import assert from 'node:assert/strict';
import { ApiKey } from '../../../shared/accounts/model.js';
import { sha256 } from '../../../shared/secrets/secrets.js';
import { forAllTests } from '../../support/hooks.js';
import { assertError, assertFine } from '../../support/hostile-input/assert-answers.js';
import { type Answer, openHostileClient } from '../../support/hostile-input/client.js';
import { JSON_TYPE, minimal } from '../../support/hostile-input/order.js';

describe('hostile input', () => {
  const web = forAllTests(openHostileClient);
  afterEach(() => web.assertUnharmed());

  describe('as a header', () => {
    it('in Authorization without a key is 401, and not repeated', async () => {
      const key = web.shop.testKey;
      const { id: keyId } = await ApiKey.query(web.db)
        .findOne({ accountId: web.shop.accountId })
        .throwIfNotFound();
      const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
      const shapes: [header: string, code: string][] = [
        ['', 'api_key_missing'],
        [' ', 'api_key_missing'],
        ['Bearer', 'api_key_missing'],
        ['Bearer ', 'api_key_missing'],
        [key, 'api_key_missing'],
        [`Bearer${key}`, 'api_key_missing'],
        [`Bearer ${key} ${key}`, 'api_key_missing'],
        [`Token ${key}`, 'api_key_missing'],
        [`Digest username="${key}"`, 'api_key_missing'],
        [`Bearer\u00a0${key}`, 'api_key_missing'],
        ['Basic', 'api_key_missing'],
        ['Basic :', 'api_key_missing'],
        ['Basic !!!', 'api_key_missing'],
        [basic(''), 'api_key_missing'],
        [basic(`:${key}`), 'api_key_missing'],
        [`Bearer ${key}x`, 'api_key_invalid'],
        [`Bearer ${key.slice(0, -1)}`, 'api_key_invalid'],
        [`Bearer ${key.toUpperCase()}`, 'api_key_invalid'],
        [`Bearer "${key}"`, 'api_key_invalid'],
        [`Bearer ${key},`, 'api_key_invalid'],
        [`Bearer ${key}\u00e9`, 'api_key_invalid'],
        [`Bearer ${'x'.repeat(15_000)}`, 'api_key_invalid'],
        [`Bearer ${key.replace('test', 'live')}`, 'api_key_invalid'],
        [`Bearer ${key.replace('svc_ck_test_', '')}`, 'api_key_invalid'],
        [`Bearer ${key.replace('svc_ck_', 'sk_')}`, 'api_key_invalid'],
        [`Bearer svc_ck_test_${sha256(key).toString('hex')}`, 'api_key_invalid'],
        [`Bearer svc_sk_${'a'.repeat(40)}`, 'api_key_invalid'],
        ['Bearer svc_ck_test_', 'api_key_invalid'],
        [`Bearer ${keyId}`, 'api_key_invalid'],
        [basic(web.shop.accountId), 'api_key_invalid'],
        ["Bearer ' OR 1=1 --", 'api_key_missing'],
        ["Bearer 'OR'1'='1", 'api_key_invalid'],
        [basic(` ${key}:`), 'api_key_invalid'],
        [basic(`${key}\0:`), 'api_key_invalid'],
        [basic(`${key}\n:`), 'api_key_invalid'],
        [basic('\0'), 'api_key_invalid'],
        [`Basic ${'A'.repeat(15_000)}`, 'api_key_invalid'],
        ['Basic ÿÿÿÿ', 'api_key_missing'],
      ];
      for (const [header, code] of shapes) {
        const answer = await web.send({ headers: { Authorization: header } });
        assert.equal(answer.status, 401, `${header.slice(0, 60)}: ${answer.text}`);
        assertError(answer, 401, code);
        for (const part of [key.slice('svc_ck_test_'.length, -4), key.toUpperCase()]) {
          assert.ok(!answer.text.includes(part), answer.text);
        }
      }
    });

    it('in Latin-1 is harmless', async () => {
      const strange = Buffer.from(Array.from({ length: 128 }, (_, i) => i + 128)).toString('latin1');
      for (const name of [
        'Idempotency-Key',
        'User-Agent',
        'Stripe-Version',
        'X-Request-Id',
        'Accept',
        'Cookie',
        'Referer',
      ]) {
        // Bytes, since node:http would send a string in UTF-8.
        const body = Buffer.from(JSON.stringify(minimal));
        const sendIt = (): Promise<Answer> => web.post(body, { ...JSON_TYPE, [name]: strange });
        const [first, second] = [await sendIt(), await sendIt()];
        assertFine(first);
        assert.equal(second.text === first.text, name === 'Idempotency-Key');
      }
    });

    it('of another proxy or client is not trusted', async () => {
      const answer = await web.send({
        headers: {
          'X-Request-Id': 'req_mine',
          'Request-Id': 'req_mine',
          'X-HTTP-Method-Override': 'DELETE',
          'X-Forwarded-For': "127.0.0.1, ' OR 1=1",
          'X-Forwarded-Host': 'evil.example',
          'X-Forwarded-Proto': 'javascript',
          Host: 'evil.example',
          Expect: '100-continue',
        },
      });
      assertFine(answer);
      assert.notEqual(answer.headers['request-id'], 'req_mine');
      const made = await web.post(JSON.stringify(minimal), { ...JSON_TYPE, Host: 'evil.example' });
      assert.match(String(assertFine(made).url), /^https:\/\/pay\.example\/c\/cs_test_/);
    });
  });
});
