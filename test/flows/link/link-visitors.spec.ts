import assert from 'node:assert/strict';
import { refuses } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { buildPaidSession } from '../../../lab/world/shop/factories.js';
import { now } from '../../../shared/process/clock.js';
import { newId } from '../../../shared/values/ids.js';
import type { PaymentRequired } from '../../../shared/x402/wire.js';
import { BASE_SEPOLIA, UNTOUCHED } from '../../support/checkout.js';
import { pairForAllTests } from '../../support/checkout-pair.js';
import { forEachTest } from '../../support/hooks.js';
import { answerOf, decodeHeader, type LinkMethod, receiptOf } from '../../support/link-answers.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';
const MALFORMED = 'no-payment!';

describe('a payment link', () => {
  const { checkout, noWait, holdPayment } = pairForAllTests();
  const open = forEachTest(() => checkout.buildSession());

  describe('opened in a browser', () => {
    const visit = (id: string, headers: Record<string, string> = {}): Promise<string> =>
      checkout.visit(id, { Accept: BROWSER, ...headers }).then(answerOf);

    it('is a page: 200 open and complete, 410 expired, 404 unknown', async () => {
      assert.equal(await visit(open.id), '200 page');
      const paid = await buildPaidSession(checkout.app.db, checkout.merchant.accountId);
      assert.equal(await visit(paid.session.id), '200 page');
      const { id } = await checkout.buildSession({ status: 'expired' });
      assert.equal(await visit(id), '410 page');
      const { id: over } = await checkout.buildSession({ expiresAt: now() });
      assert.equal(await visit(over), '410 page');
      assert.equal(await visit(newId('cs_test_')), '404 page');
    });

    it('is a page with 200 while a payment is in progress', async () => {
      const { id, finish } = await holdPayment();
      const res = await noWait.visit(id, { Accept: BROWSER });
      assert.equal(answerOf(res), '200 page');
      await finish();
    });

    it('has the receipt in its header when the session is paid', async () => {
      const paid = await checkout.pay(open.id);
      const page = await checkout.visit(open.id, { Accept: BROWSER });
      assert.deepEqual(receiptOf(page), receiptOf(paid));
      assert.match(page.text, new RegExp(receiptOf(paid)?.transaction ?? 'none'));
    });

    it('accepts a payment header: an agent’s status and headers, with a page', async () => {
      const payment = await checkout.sign(open.id);
      const headers = { Accept: 'text/html', 'PAYMENT-SIGNATURE': payment.header };
      const res = await checkout.visit(open.id, headers);
      assert.equal(answerOf(res), '200 page');
      assert.equal(receiptOf(res)?.success, true);
      assert.equal((await checkout.session(open.id)).status, 'complete');
      const again = await checkout.visit(open.id, headers);
      assert.equal(answerOf(again), '409 page');
      assert.equal(receiptOf(again)?.success, true);
    });

    it('answers 402 with PAYMENT-REQUIRED to a refused payment, and 202 to one in progress', async () => {
      checkout.facilitator.verify.next(refuses('insufficient_funds'));
      const payment = await checkout.sign(open.id);
      const headers = { Accept: BROWSER, 'PAYMENT-SIGNATURE': payment.header };
      assert.equal(answerOf(await checkout.visit(open.id, headers)), '402 page');
      checkout.facilitator.verify.next(refuses('insufficient_funds'));
      const { header: another } = await checkout.sign(open.id);
      const wanted = { Accept: BROWSER, 'PAYMENT-SIGNATURE': another };
      const narrowed = await checkout.visit(`${open.id}?network=${BASE_SEPOLIA}&token=USDC`, wanted);
      assert.equal(answerOf(narrowed), '402 page');
      const required = decodeHeader(narrowed.get('PAYMENT-REQUIRED') ?? '') as PaymentRequired;
      assert.equal(required.code, 'insufficient_funds');
      assert.deepEqual(
        required.accepts.map(({ network }) => network),
        [BASE_SEPOLIA],
      );

      const { id } = await noWait.buildSession();
      const { header } = await noWait.sign(id);
      const hold = noWait.facilitator.settle.holdNext();
      const res = await noWait.visit(id, { Accept: BROWSER, 'PAYMENT-SIGNATURE': header });
      assert.equal(answerOf(res), '202 page');
      hold.release();
      await eventually(async () => assert.equal((await noWait.session(id)).status, 'complete'));
    });

    it("answers 400 to a malformed header, and 410 to a payment after the session's end", async () => {
      assert.equal(await visit(open.id, { 'PAYMENT-SIGNATURE': MALFORMED }), '400 page');
      const { header } = await checkout.sign(open.id);
      const { id } = await checkout.buildSession({ status: 'expired' });
      assert.equal(await visit(id, { 'PAYMENT-SIGNATURE': header }), '410 page');
    });

    it('shows the amount to the cent, up to the largest', async () => {
      for (const [amountTotalCents, shown] of [
        [0, '$0.00'],
        [1, '$0.01'],
        [123_456_789, '$1,234,567.89'],
        [9_007_199_254_740_991, '$90,071,992,547,409.91'],
      ] as const) {
        const { id } = await checkout.buildSession({ amountTotalCents });
        const { text } = await checkout.visit(id, { Accept: BROWSER });
        assert.ok(text.includes(`<h1>${shown}</h1>`), shown);
      }
    });

    for (const [accept, answer] of [
      ['text/html', '200 page'],
      ['TEXT/HTML', '200 page'],
      ['application/json, text/html;q=0.1', '200 page'],
      ['*/*', '402'],
      ['application/json', '402'],
      ['text/plain, text/*', '402'],
      ['application/xhtml+xml', '402'],
      ['', '402'],
    ] as const) {
      it(`treats Accept: ${accept || 'nothing'} as ${answer === '402' ? 'an agent' : 'a person'}`, async () => {
        assert.equal(answerOf(await checkout.visit(open.id, { Accept: accept })), answer);
      });
    }
  });

  describe('asked with', () => {
    it('HEAD: answers as GET without a body, in every state', async () => {
      const held = await holdPayment();
      assert.equal((await noWait.send('head', held.id)).status, 202);
      await held.finish();
      const paid = await noWait.send('head', held.id);
      assert.equal(paid.status, 200);
      assert.deepEqual(receiptOf(paid), receiptOf(await noWait.visit(held.id)));
      const quote = await checkout.send('head', open.id);
      assert.equal(quote.get('PAYMENT-REQUIRED'), (await checkout.visit(open.id)).get('PAYMENT-REQUIRED'));
      const { id } = await checkout.buildSession({ status: 'expired' });
      assert.equal((await checkout.send('head', id)).status, 410);
      assert.equal((await checkout.send('head', newId('cs_test_'))).status, 404);
      assert.equal((await checkout.send('head', open.id, { Accept: BROWSER })).status, 200);
    });

    it('HEAD: never pays, and does not read payment headers', async () => {
      const payment = await checkout.sign(open.id);
      const headers = { 'PAYMENT-SIGNATURE': payment.header, 'X-PAYMENT': payment.header };
      assert.equal((await checkout.send('head', open.id, headers)).status, 402);
      assert.equal((await checkout.send('head', open.id, { 'X-PAYMENT': MALFORMED })).status, 402);
      assert.deepEqual(checkout.calls(payment), { verify: 0, settle: 0 });
      assert.deepEqual(await checkout.state(open.id), UNTOUCHED);
    });

    for (const method of ['put', 'patch', 'delete'] satisfies LinkMethod[]) {
      it(`${method.toUpperCase()}: 405 with Allow, and no payment is made`, async () => {
        const payment = await checkout.sign(open.id);
        const res = await checkout.send(method, open.id, { 'PAYMENT-SIGNATURE': payment.header });
        assert.equal(answerOf(res), '405 method_not_allowed');
        assert.deepEqual(res.get('Allow')?.split(', ').sort(), ['GET', 'HEAD', 'OPTIONS', 'POST']);
        assert.deepEqual(checkout.calls(payment), { verify: 0, settle: 0 });
        assert.deepEqual(await checkout.state(open.id), UNTOUCHED);
      });
    }

    for (const [title, type, body] of [
      ['no body', undefined, undefined],
      ['a JSON body', 'application/json', '{"anything": 1}'],
      ['a truncated JSON body', 'application/json', '{"anyth'],
      ['a form', 'application/x-www-form-urlencoded', 'a=1&a=%zz'],
      ['an unknown content type', 'application/x-strange', '\u0000\u0001'],
      ['six megabytes', 'application/octet-stream', 'x'.repeat(6_000_000)],
    ] as const) {
      it(`POST and ${title}: as GET`, async () => {
        const post = (id: string, headers: Record<string, string> = {}): Promise<string> => {
          const test = checkout.send('post', id, headers);
          if (type !== undefined) test.type(type);
          return test.send(body).then(answerOf);
        };
        assert.equal(await post(open.id), '402');
        const { header } = await checkout.sign(open.id);
        assert.equal(await post(open.id, { 'PAYMENT-SIGNATURE': header }), '200 complete');
        assert.equal(await post(open.id), '200 complete');
        assert.equal(await post(open.id, { Accept: BROWSER }), '200 page');
      });
    }

    it('unknown query parameters: ignores them', async () => {
      for (const query of ['?a=1', '?id=x&id[]=y', '?%zz', '?x402Version=1', '?__proto__=1']) {
        const res = await checkout.visit(`${open.id}${query}`);
        assert.equal(answerOf(res), '402', query);
        assert.equal(res.body.resource.url, `https://pay.example/c/${open.id}`);
      }
      const { header } = await checkout.sign(open.id);
      const paid = await checkout.visit(`${open.id}?utm_source=x&id=other`, { 'PAYMENT-SIGNATURE': header });
      assert.equal(answerOf(paid), '200 complete');
    });
  });

  describe("records a payment's channel:", () => {
    for (const [title, headers, channel] of [
      ['the page sends Checkout-Channel', { 'Checkout-Channel': 'page' }, 'page'],
      ['an agent sends no header', {}, 'x402'],
      ['the header has another value', { 'Checkout-Channel': 'x402; page' }, 'x402'],
      ['a browser loads the page', { Accept: BROWSER }, 'x402'],
    ] as const) {
      it(`${channel}, when ${title}`, async () => {
        const { header } = await checkout.sign(open.id);
        await checkout.visit(open.id, { ...headers, 'PAYMENT-SIGNATURE': header });
        assert.equal((await checkout.visit(open.id)).body.session.payment.channel, channel);
      });
    }
  });
});
