import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { startWebhookReceiver, type WebhookReceiver } from '../../local/demo/webhook-receiver.js';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const EVENT = JSON.stringify({
  id: 'evt_1',
  type: 'checkout.session.completed',
  data: { object: { id: 'cs_test_1' } },
});

describe('the built-in webhook receiver', () => {
  let receiver: WebhookReceiver;
  let printed: string[];

  beforeEach(async () => {
    printed = [];
    receiver = await startWebhookReceiver({ preferredPort: 0, print: (line) => printed.push(line) });
    receiver.setSecret(SECRET);
  });
  afterEach(() => receiver.close());

  function stripeHeader(parts: { secret?: string; ageSeconds?: number; payload?: string } = {}): string {
    const { secret = SECRET, ageSeconds = 0, payload = EVENT } = parts;
    const timestamp = Math.floor(Date.now() / 1000) - ageSeconds;
    return new Stripe('sk').webhooks.generateTestHeaderString({ payload, secret, timestamp });
  }

  async function deliver(headers: Record<string, string>, body = EVENT): Promise<number> {
    return (await fetch(receiver.url, { method: 'POST', headers, body })).status;
  }

  it('prints a signed event', async () => {
    assert.equal(await deliver({ 'service-signature': stripeHeader() }), 200);
    assert.deepEqual(printed, [
      'webhook checkout.session.completed evt_1 for cs_test_1 (signature verified)',
    ]);
  });

  it('also verifies the Standard Webhooks headers, when present', async () => {
    const sentAt = new Date();
    const timestamp = `${Math.floor(sentAt.getTime() / 1000)}`;
    const standard = { 'webhook-id': 'evt_1', 'webhook-timestamp': timestamp };
    const signed = { 'service-signature': stripeHeader(), ...standard };
    const signature = new Webhook(SECRET).sign('evt_1', sentAt, EVENT);
    assert.equal(await deliver({ ...signed, 'webhook-signature': signature }), 200);
    const other = new Webhook(SECRET).sign('evt_2', sentAt, EVENT);
    assert.equal(await deliver({ ...signed, 'webhook-signature': other }), 400);
    assert.equal(printed.at(-1), 'webhook refused: its webhook-signature does not fit');
  });

  const refused: [string, () => Promise<number>, string][] = [
    ['is not signed', () => deliver({}), 'it has no Service-Signature of the form t=…,v1=…'],
    [
      'is signed with another secret',
      () => deliver({ 'service-signature': stripeHeader({ secret: 'whsec_other' }) }),
      'its signature does not fit',
    ],
    [
      'was changed in transit',
      () => deliver({ 'service-signature': stripeHeader() }, EVENT.replace('cs_test_1', 'cs_test_2')),
      'its signature does not fit',
    ],
    [
      'was recorded long ago',
      () => deliver({ 'service-signature': stripeHeader({ ageSeconds: 301 }) }),
      'its signature is too old',
    ],
    [
      'is no event',
      () => deliver({ 'service-signature': stripeHeader({ payload: '[]' }) }, '[]'),
      'it is signed, but is no event',
    ],
  ];
  for (const [what, send, reason] of refused) {
    it(`rejects an event that ${what}`, async () => {
      assert.equal(await send(), 400);
      assert.deepEqual(printed, [`webhook refused: ${reason}`]);
    });
  }

  it('answers 503 until it has the secret', async () => {
    const early = await startWebhookReceiver({ preferredPort: 0, print: (line) => printed.push(line) });
    try {
      const response = await fetch(early.url, { method: 'POST', body: EVENT });
      assert.deepEqual([response.status, printed], [503, []]);
    } finally {
      await early.close();
    }
  });

  it('uses another port when its last one is taken', async () => {
    const preferredPort = Number(new URL(receiver.url).port);
    const other = await startWebhookReceiver({ preferredPort, print: () => {} });
    await other.close();
    assert.notEqual(other.url, receiver.url);
  });
});
