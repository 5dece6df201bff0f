import assert from 'node:assert/strict';
import request from 'supertest';
import { answers, failsToSettle, refuses } from '../../../lab/world/facilitator/dial.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { nameOf, openTwoFacilitators } from '../../support/two-facilitators.js';

const TOKEN = 'metrics-token-of-a-spec';
const OF_WALLET = [
  'kyt_risk_detected',
  'invalid_exact_evm_payload_authorization_from_address_kyt',
  'kyt_word_of_tomorrow',
];
const OF_SELLER = ['registration_required', 'invalid_exact_evm_payload_authorization_to_address_kyt'];

describe('a facilitator that does not serve', () => {
  const shop = forAllTests(() => openTwoFacilitators({ environment: { METRICS_TOKEN: TOKEN } }));
  afterEach(() => {
    assert.deepEqual(shop.second.calls.verify, [], 'no other facilitator is asked');
    shop.first.verify.honest();
    shop.first.settle.honest();
  });

  async function countOf(about: string): Promise<number> {
    const page = await request(shop.app.server).get('/metrics').set('Authorization', `Bearer ${TOKEN}`);
    const own = page.text.split('\n').filter((line) => !line.includes('worker='));
    const series = `checkout_facilitator_refusals_total{facilitator="${nameOf(shop.first)}",about="${about}"} `;
    return Number(own.find((line) => line.startsWith(series))?.slice(series.length));
  }

  describe("the buyer's wallet", () => {
    for (const word of OF_WALLET)
      it(`refuses it finally at /verify: ${word}`, async () => {
        const { id } = await shop.buildSession();
        const before = await countOf('wallet');
        shop.first.verify.always(refuses(word));
        const answer = await shop.pay(id);
        assert.equal(answerOf(answer), `402 ${word}`);
        assert.match(answer.body.error, /no money moved.*Do not try this wallet again/);
        assert.equal(await countOf('wallet'), before + 1);
        assert.equal((await shop.session(id)).status, 'open');
      });

    it('refuses it finally with HTTP 403, too', async () => {
      const { id } = await shop.buildSession();
      shop.first.verify.always(answers(403, { isValid: false, invalidReason: 'kyt_risk_detected' }));
      assert.equal(answerOf(await shop.pay(id)), '402 kyt_risk_detected');
    });

    it('refuses it finally at /settle, and the failure code has the word', async () => {
      for (const word of OF_WALLET.slice(0, 2)) {
        const { id } = await shop.buildSession();
        shop.first.settle.next(failsToSettle(word));
        assert.equal(answerOf(await shop.pay(id)), `402 ${word}`);
        assert.equal((await shop.payment(id)).failureCode, word);
        assert.equal((await shop.payment(id)).settleCalls, 1);
      }
    });
  });

  describe('the seller', () => {
    for (const word of OF_SELLER)
      it(`is a 503 for the buyer at /verify: ${word}`, async () => {
        const { id } = await shop.buildSession();
        const before = await countOf('seller');
        shop.first.verify.always(refuses(word));
        const answer = await shop.pay(id);
        assert.equal(answerOf(answer), '503 payment_service_unavailable');
        assert.match(answer.body.error.message, /this merchant now, and no money moved/);
        assert.equal(answer.headers['retry-after'], '60');
        assert.equal(await countOf('seller'), before + 1);
        assert.deepEqual(await shop.payments(id), []);
      });

    it('is a 503 for the buyer at /settle, and the session is open again', async () => {
      for (const word of OF_SELLER) {
        const { id } = await shop.buildSession();
        shop.first.settle.always(failsToSettle(word));
        assert.equal(answerOf(await shop.pay(id)), '503 payment_service_unavailable');
        assert.equal((await shop.session(id)).status, 'open');
        assert.equal((await shop.payment(id)).status, 'failed');
        assert.equal(shop.second.calls.settle.length, 0);
      }
    });
  });
});
