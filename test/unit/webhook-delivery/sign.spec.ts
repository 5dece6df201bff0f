import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { signWebhook } from '../../../workers/webhook-delivery/sign.js';

const SECRETS = ['A', 'B'].map((letter) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`);
const EVENT = 'evt_1';
const TIME = 1_700_000_000;
const KIB = 1024;

describe("a webhook's signatures", () => {
  const bodies = {
    'an empty body': '',
    'a small body': '{"name":"Café 🍰"}',
    'the largest body of the main thread': 'x'.repeat(64 * KIB),
    'one byte more': 'x'.repeat(64 * KIB + 1),
    'a body of 2 MiB': '"é"'.repeat(512 * KIB),
  };
  for (const [name, text] of Object.entries(bodies)) {
    it(`are Stripe's and those of Standard Webhooks, with each secret, for ${name}`, async () => {
      const { headers, body } = await signWebhook(SECRETS, EVENT, text, TIME);
      const stripe = SECRETS.map(
        (secret) => `v1=${createHmac('sha256', secret).update(`${TIME}.${text}`).digest('hex')}`,
      );
      const standard = SECRETS.map((secret) => {
        const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
        return `v1,${createHmac('sha256', key).update(`${EVENT}.${TIME}.${text}`).digest('base64')}`;
      });
      assert.equal(body.toString(), text);
      assert.deepEqual(headers, {
        'service-signature': [`t=${TIME}`, ...stripe].join(','),
        'webhook-id': EVENT,
        'webhook-timestamp': String(TIME),
        'webhook-signature': standard.join(' '),
      });
    });
  }

  it('of a large body leave the main thread free', async () => {
    const signed = signWebhook(SECRETS, EVENT, bodies['a body of 2 MiB'], TIME);
    assert.ok(signed instanceof Promise);
    await signed;
  });
});
