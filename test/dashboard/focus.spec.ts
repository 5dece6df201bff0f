import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildPaidSession, buildSession } from '../../lab/world/shop/factories.js';
import { createApiKey } from '../../shared/accounts/api-keys.js';
import { buildFailingEndpoint } from '../support/dashboard/failing-endpoint.js';
import { type Dashboard, openStage } from '../support/dashboard/stage.js';
import { forAllTests } from '../support/hooks.js';

/** A keyboard goes on from there; from the body it would go through the whole header again. */
const FOCUSED = 'document.activeElement.textContent';

async function pressWithKeyboard({ page }: Dashboard, button: string): Promise<void> {
  await page.getByRole('button', { name: button }).first().focus();
  await page.keyboard.press('Enter');
}

describe('the focus in the dashboard stays', () => {
  const stage = forAllTests(openStage);

  const focusedIn = async ({ page }: Dashboard): Promise<unknown> => await page.evaluate(FOCUSED);

  it('on the button that disables an endpoint, and enables it, and on the one that downloads a list', async () => {
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
    await tab.goTo('#/payments');
    await pressWithKeyboard(tab, 'Download CSV');
    await tab.says('was downloaded.');
    await tab.page.getByRole('button', { name: 'Download CSV' }).waitFor();
    assert.equal(await focusedIn(tab), 'Download CSV');
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
});

describe('the focus in the dashboard, when what had it is gone, goes', () => {
  const stage = forAllTests(openStage);

  /** A field is named by its label, which a screen reader says. */
  const NAMED = `(({ labels, textContent }) => labels?.[0]?.textContent ?? textContent)(document.activeElement)`;
  const goesTo = async ({ page }: Dashboard, expected: string): Promise<void> =>
    await eventually(async () => assert.equal(await page.evaluate(NAMED), expected));

  it('into the form that its button opened, and back to the button', async () => {
    const { db } = stage.app;
    const { accountId, testKey } = stage.merchant;
    const { endpointId } = await buildFailingEndpoint(db, accountId, { events: 1 });
    const { payment } = await buildPaidSession(db, accountId);
    const tab = await stage.visit(testKey, `#/webhooks/${endpointId}`);
    await pressWithKeyboard(tab, 'Change');
    await goesTo(tab, 'URL');
    await pressWithKeyboard(tab, 'Keep it as it is');
    await goesTo(tab, 'Change');
    await tab.page.keyboard.press('Enter');
    await tab.page.getByLabel('Description').fill('Mine');
    await pressWithKeyboard(tab, 'Save');
    await tab.says('The endpoint is changed.');
    await goesTo(tab, 'Change');
    await tab.goTo(`#/payments/${payment.id}`);
    await pressWithKeyboard(tab, 'Refund');
    await goesTo(tab, 'Amount in dollars');
    await pressWithKeyboard(tab, 'Do not refund');
    await goesTo(tab, 'Refund');
    await tab.leave();
  });

  it('to the title of the screen after an action that leaves nothing to press', async () => {
    const { db } = stage.app;
    const { accountId, testKey } = stage.merchant;
    const session = await buildSession(db, accountId);
    const tab = await stage.visit(testKey, `#/links/${session.id}`);
    await pressWithKeyboard(tab, 'Expire the link');
    await pressWithKeyboard(tab, 'Expire it');
    await tab.says('The link is expired.');
    await goesTo(tab, 'Link');
    await createApiKey(db, { accountId, name: 'spare', livemode: false });
    await tab.goTo('#/keys');
    await pressWithKeyboard(tab, 'Delete key');
    await pressWithKeyboard(tab, 'Delete it');
    await tab.says('The key spare is deleted.');
    await goesTo(tab, 'Keys');
    await tab.goTo('#/webhooks/new');
    await tab.page.getByLabel('URL').fill('https://shop.example/hooks');
    await pressWithKeyboard(tab, 'Add the endpoint');
    await tab.says('The endpoint is created.');
    await goesTo(tab, 'Keep this secret');
    await tab.leave();
  });

  it('to the button that adds an item after the last is removed, to the key at a sign-out, and to the title at a sign-in', async () => {
    const tab = await stage.visit(stage.merchant.testKey, '#/links/new');
    for (let items = 1; items < 3; items += 1) await pressWithKeyboard(tab, 'Add an item');
    await pressWithKeyboard(tab, 'Remove item 3');
    await goesTo(tab, 'Add an item');
    await pressWithKeyboard(tab, 'Sign out');
    await goesTo(tab, 'Checkout key');
    await tab.page.keyboard.type(stage.merchant.testKey);
    await tab.page.keyboard.press('Enter');
    await tab.sees('Overview');
    await goesTo(tab, 'Overview');
    await tab.leave();
  });
});

const REFUSAL = { error: { type: 'api_error', code: 'service_unavailable', message: 'Not now.' } };
