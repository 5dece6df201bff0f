import assert from 'node:assert/strict';
import { buildPaidSession } from '../../lab/world/shop/factories.js';
import { buildFailingEndpoint } from '../support/dashboard/failing-endpoint.js';
import { type Dashboard, openStage } from '../support/dashboard/stage.js';
import { forAllTests } from '../support/hooks.js';

/** A keyboard goes on from there; from the body it would go through the whole header again. */
const FOCUSED = 'document.activeElement.textContent';

describe('the focus in the dashboard stays', () => {
  const stage = forAllTests(openStage);

  async function pressWithKeyboard({ page }: Dashboard, button: string): Promise<void> {
    await page.getByRole('button', { name: button }).focus();
    await page.keyboard.press('Enter');
  }

  const focusedIn = async ({ page }: Dashboard): Promise<unknown> => await page.evaluate(FOCUSED);

  it('on the button that disables an endpoint, and enables it', async () => {
    const { db } = stage.app;
    const { accountId, testKey } = stage.merchant;
    const { endpointId, eventIds } = await buildFailingEndpoint(db, accountId, { events: 1 });
    const tab = await stage.visit(testKey, `#/webhooks/${endpointId}`);
    await pressWithKeyboard(tab, `Resend ${eventIds[0]}`);
    await tab.says('The event will be sent again now.');
    assert.equal(await focusedIn(tab), 'Resend');
    await pressWithKeyboard(tab, 'Disable');
    await tab.says('The endpoint is disabled.');
    assert.equal(await focusedIn(tab), 'Enable');
    await tab.page.keyboard.press('Enter');
    await tab.says('The endpoint is enabled.');
    assert.equal(await focusedIn(tab), 'Disable');
    await tab.leave();
  });

  it('on a button whose action was refused, in a form and in a dialog', async () => {
    const { payment } = await buildPaidSession(stage.app.db, stage.merchant.accountId);
    const tab = await stage.visit(stage.merchant.testKey, `#/payments/${payment.id}`);
    await tab.press('Refund');
    await tab.page.getByLabel('Amount in dollars').fill('4.51');
    await pressWithKeyboard(tab, 'Create the refund');
    await tab.page.getByRole('alert').getByText('The amount is between').waitFor();
    assert.equal(await focusedIn(tab), 'Create the refund');
    await tab.goTo('#/keys');
    await tab.page.route('**/v1/keys/*', (route) => route.fulfill({ status: 503, json: REFUSAL }));
    await tab.page.getByRole('button', { name: 'Delete key' }).first().click();
    await pressWithKeyboard(tab, 'Delete it');
    await tab.page.getByRole('dialog').getByText(REFUSAL.error.message).waitFor();
    assert.equal(await focusedIn(tab), 'Delete it');
    await tab.leave(503);
  });

  it('on the button that downloads a list', async () => {
    const tab = await stage.visit(stage.merchant.testKey, '#/payments');
    await pressWithKeyboard(tab, 'Download CSV');
    await tab.says('was downloaded.');
    await tab.page.getByRole('button', { name: 'Download CSV' }).waitFor();
    assert.equal(await focusedIn(tab), 'Download CSV');
    await tab.leave();
  });
});

const REFUSAL = { error: { type: 'api_error', code: 'service_unavailable', message: 'Not now.' } };
