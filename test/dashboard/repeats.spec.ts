import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { buildEndpoints, buildMerchant } from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { Payable } from '../../shared/payables/model.js';
import { WebhookDelivery, WebhookEndpoint } from '../../shared/webhooks/model.js';
import { buildFailingEndpoint } from '../support/dashboard/failing-endpoint.js';
import { fillRefundForm } from '../support/dashboard/refund-form.js';
import { openStage } from '../support/dashboard/stage.js';
import { forAllTests } from '../support/hooks.js';

describe('an action of the dashboard that got no answer', () => {
  const stage = forAllTests(openStage);

  /** The next write there is done, and its answer is lost on the way. */
  const loseAnswer = async (page: Page, address: string): Promise<void> => {
    let isNext = true;
    await page.route(address, async (route) => {
      if (!isNext || route.request().method() === 'GET') return await route.fallback();
      isNext = false;
      await route.fetch();
      await route.abort();
    });
  };

  const refundsOf = async (paymentId: string): Promise<Payable[]> =>
    await Payable.query(stage.app.db).where({ refundedPaymentId: paymentId });

  it('creates one link, although the hour until which it can be paid ends later at the second click', async () => {
    const merchant = await buildMerchant(stage.app.db);
    const tab = await stage.visit(merchant.testKey, '#/links/new');
    const { page } = tab;
    await page.clock.install();
    await page.reload();
    await page.getByLabel('Name', { exact: true }).fill('Coffee');
    await page.getByLabel('Price in dollars').fill('4.50');
    await page.getByLabel('The link can be paid for').selectOption('1 hour');
    await loseAnswer(page, '**/v1/checkout/sessions');
    await tab.press('Create the link');
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    await page.clock.fastForward('00:10');
    await tab.press('Create the link');
    await tab.sees('Link');
    assert.equal(
      await CheckoutSession.query(stage.app.db).where({ accountId: merchant.accountId }).resultSize(),
      1,
    );
    await tab.close();
  });

  it('makes no second refund, when a limit answered the try in between', async () => {
    const { tab, paymentId } = await fillRefundForm(stage);
    const { page } = tab;
    const alert = page.getByRole('alert');
    await loseAnswer(page, '**/v1/refunds');
    await tab.press('Create the refund');
    await alert.getByText('The service cannot be reached.').waitFor();
    const json = { error: { code: 'rate_limit', message: 'Too many requests.' } };
    await page.route('**/v1/refunds', (route) => route.fulfill({ status: 429, json }), { times: 1 });
    await tab.press('Create the refund');
    await alert.getByText('Too many requests.').waitFor();
    await tab.press('Create the refund');
    await tab.sees('Refund');
    assert.equal((await refundsOf(paymentId)).length, 1);
    await tab.close();
  });

  it('makes a second refund of the same amount, when the first got no answer two minutes ago', async () => {
    const { tab, paymentId } = await fillRefundForm(stage);
    const { page } = tab;
    await loseAnswer(page, '**/v1/refunds');
    await tab.press('Create the refund');
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    await page.clock.fastForward('02:00');
    await tab.press('Create the refund');
    await tab.sees('Refund');
    assert.equal((await refundsOf(paymentId)).length, 2);
    await tab.close();
  });

  it('disables an endpoint again, when the first time got no answer and it was enabled since', async () => {
    const { db } = stage.app;
    const [id = ''] = await buildEndpoints(db, stage.merchant.accountId, 1);
    const tab = await stage.visit(stage.merchant.testKey, `#/webhooks/${id}`);
    const { page } = tab;
    await loseAnswer(page, `**/v1/webhook_endpoints/${id}`);
    await tab.press('Disable');
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    await tab.press('Enable');
    await tab.says('The endpoint is enabled.');
    await tab.press('Disable');
    await tab.says('The endpoint is disabled.');
    const { status } = await WebhookEndpoint.query(db).findById(id).throwIfNotFound();
    assert.equal(status, 'disabled');
    await tab.close();
  });
});

describe('a double click in the dashboard whose first press is answered quickly', () => {
  const stage = forAllTests(openStage);

  it('disables an endpoint, and resends an event once', async () => {
    const { db } = stage.app;
    const { endpointId, eventIds } = await buildFailingEndpoint(db, stage.merchant.accountId, { events: 1 });
    const tab = await stage.visit(stage.merchant.testKey, `#/webhooks/${endpointId}`);
    const doubleClick = async (button: string, said: string): Promise<void> => {
      const { mouse } = tab.page;
      await tab.page.getByRole('button', { name: button }).hover();
      await mouse.down();
      await mouse.up();
      await tab.says(said);
      await tab.page.locator('main [aria-disabled=true]').waitFor({ state: 'detached' });
      await mouse.down({ clickCount: 2 });
      await mouse.up({ clickCount: 2 });
    };
    await doubleClick(`Resend ${eventIds[0]}`, 'The event will be sent again now.');
    await doubleClick('Disable', 'The endpoint is disabled.');
    // Nothing tells that nothing happens.
    await tab.page.waitForTimeout(500);
    const { status } = await WebhookEndpoint.query(db).findById(endpointId).throwIfNotFound();
    assert.equal(status, 'disabled');
    assert.equal(await WebhookDelivery.query(db).where({ endpointId }).resultSize(), 2);
    await tab.leave();
  });
});
