import assert from 'node:assert/strict';
import { buildMerchant, buildPaidSession, buildSession } from '../../lab/world/shop/factories.js';
import { createApiKey } from '../../shared/accounts/api-keys.js';
import { newId } from '../../shared/values/ids.js';
import { WebhookEndpoint } from '../../shared/webhooks/model.js';
import { buildFailingEndpoint } from '../support/dashboard/failing-endpoint.js';
import { openStage } from '../support/dashboard/stage.js';
import { forAllTests } from '../support/hooks.js';
import { scrollsSideways } from '../support/page/accessibility.js';

const ATTACK =
  '<script>window.hacked = 1</script>"><img src=x onerror="window.hacked = 1"> {amount} $& &amp; javascript:window.hacked=1';
const RIGHT_TO_LEFT = '\u202eevil\u202e \u05e9\u05dc\u05d5\u05dd';
const LONG = 'W'.repeat(5000);
const WIDTHS = [1280, 360];

/** Texts of merchants, buyers and receivers are text, whatever their length and content. */
describe('the dashboard and untrusted strings', () => {
  const stage = forAllTests(openStage);
  let places: (readonly [place: string, title: string, text: string])[];
  before(async () => {
    const { db } = stage.app;
    const { accountId } = stage.merchant;
    const text = `${ATTACK} ${RIGHT_TO_LEFT}`;
    const { id } = await buildSession(db, accountId, {
      lineItems: [
        {
          id: newId('li_'),
          name: text,
          description: LONG,
          images: ['https://tracker.example/pixel.png'],
          unitAmountCents: 1,
          quantity: 1,
        },
      ],
      clientReferenceId: text,
      customerEmail: `${'e'.repeat(240)}@mail.example`,
      successUrl: `https://shop.example/?q=${LONG}`,
      metadata: { [`<b>${'n'.repeat(37)}`]: text, __proto__: 'x', long: LONG },
    });
    await createApiKey(db, { accountId, livemode: false, name: text });
    const { payment } = await buildPaidSession(db, accountId, { payer: text, transaction: LONG });
    const { endpointId } = await buildFailingEndpoint(db, accountId, {
      events: 1,
      url: `https://shop.example/${'u'.repeat(2000)}`,
      answer: `${ATTACK}${LONG}`,
    });
    await WebhookEndpoint.query(db).patch({ description: text }).where({ id: endpointId });
    places = [
      ['#/', 'Overview', 'fails.'],
      ['#/links', 'Links', 'open'],
      [`#/links/${id}`, 'Link', ATTACK],
      ['#/payments', 'Payments', 'USDC on'],
      [`#/payments/${payment.id}`, 'Payment', ATTACK],
      ['#/webhooks', 'Webhooks', ATTACK],
      [`#/webhooks/${endpointId}`, 'Webhook endpoint', ATTACK],
      ['#/keys', 'Keys', ATTACK],
      [`#/search?q=${encodeURIComponent(ATTACK)}`, 'Search', ''],
      [`#/payments/${encodeURIComponent('../keys?x=<script>')}`, 'Payment', 'Nothing with this id'],
      ['#/%E0%A4%A/x', 'There is no such screen.', ''],
    ];
  });

  it('shows them as text, wide and narrow', async () => {
    const tab = await stage.visit(stage.merchant.testKey, '#/keys');
    const { page } = tab;
    for (const [place, title, text] of places) {
      await tab.goTo(place);
      await tab.sees(title);
      if (text !== '') await page.locator('main').getByText(text).filter({ visible: true }).first().waitFor();
      assert.equal(await page.evaluate('window.hacked'), undefined, place);
      assert.equal(await page.locator('h1').count(), 1, place);
      assert.equal(await page.locator('main img, main script, main iframe').count(), 0, place);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        assert.equal(await scrollsSideways(page), false, `${place} at ${width}`);
      }
    }
    await tab.leave(400, 404);
  });

  it('fits the largest amounts, and the search, on the narrowest phone and with text of twice the size', async () => {
    const { db } = stage.app;
    const { accountId, testKey } = await buildMerchant(db);
    const { payment } = await buildPaidSession(db, accountId, { amountCents: Number.MAX_SAFE_INTEGER });
    const tab = await stage.visit(testKey, '#/', { viewport: { width: 320, height: 640 } });
    const { page } = tab;
    const seesAmount = (): Promise<void> => page.locator('p.amount', { hasText: '992,547,409.9' }).waitFor();
    for (const place of ['#/', `#/payments/${payment.id}`]) {
      await tab.goTo(place);
      for (const size of ['100%', '200%']) {
        await page.evaluate(`document.documentElement.style.fontSize = '${size}'`);
        await seesAmount();
        assert.equal(await scrollsSideways(page), false, `${place} at ${size}`);
      }
    }
    await tab.leave(404);
  });
});
