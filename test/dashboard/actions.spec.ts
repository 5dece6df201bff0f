import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import {
  buildEndpoints,
  buildMerchant,
  buildPaidSession,
  buildSession,
  buildSessions,
  buildUndecidedPayment,
} from '../../lab/world/shop/factories.js';
import { createApiKey } from '../../shared/accounts/api-keys.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { Payable } from '../../shared/payables/model.js';
import { lowestIdAt, randomText } from '../../shared/values/ids.js';
import { WebhookEndpoint } from '../../shared/webhooks/model.js';
import { openStage, type Stage, violations } from '../support/dashboard/stage.js';

describe('what a merchant does in the dashboard', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(async () => {
    await stage.close();
  });

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
    await Payable.query(stage.app.db).where({ refundedPaymentId: paymentId }).orderBy('id');

  it('creates a payment link from a form, and shows it with its QR code', async () => {
    const tab = await stage.visit(stage.merchant.testKey, '#/links');
    const { page } = tab;
    const fill = (label: string, value: string): Promise<void> =>
      page.getByLabel(label, { exact: true }).last().fill(value);
    await page.getByText('No links yet.').waitFor();
    await page.getByRole('link', { name: 'Create a link' }).last().click();
    await fill('Name', 'Coffee');
    await fill('Price in dollars', '4.5');
    await fill('Quantity', '2');
    await tab.press('Add an item');
    await fill('Name', 'Cake');
    await fill('Description', 'With nuts');
    await fill('Price in dollars', 'three');
    await fill('After paying, go to', 'https://shop.example/thanks');
    await fill('Order number', 'order-77');
    await fill("Buyer's e-mail", 'buyer@mail.example');
    await page.getByLabel('The link can be paid for').selectOption('1 hour');
    await tab.press('Add metadata');
    await fill('Name 1', 'colour');
    await fill('Value 1', 'green');
    await tab.press('Create the link');
    await page.getByRole('alert').getByText('The price of item 2').waitFor();
    await fill('Price in dollars', '3');
    await page.getByRole('button', { name: 'Create the link' }).dblclick();
    await tab.says('The link is created.');
    await tab.sees('Link');
    const sessions = await CheckoutSession.query(stage.app.db).where({
      accountId: stage.merchant.accountId,
    });
    const [session] = sessions;
    assert.equal(sessions.length, 1);
    assert.equal(session?.amountTotalCents, 1200);
    assert.equal(session?.clientReferenceId, 'order-77');
    assert.equal(session?.customerEmail, 'buyer@mail.example');
    assert.equal(session?.successUrl, 'https://shop.example/thanks');
    assert.deepEqual(session?.metadata, { colour: 'green' });
    const leftMs = Number(session?.expiresAt) - Date.now();
    assert.ok(leftMs > 50 * 60_000 && leftMs <= 3_610_000, `${leftMs}`);
    await page.getByText(`https://pay.example/c/${session?.id}`).waitFor();
    await page.getByRole('img', { name: 'QR code of the payment link' }).waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await tab.press('Copy the payment link');
    await page.getByText('Copied').waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    assert.equal(copied, `https://pay.example/c/${session?.id}`);
    await tab.leave();
  });

  it('expires a link after asking, and not when the question is closed', async () => {
    const session = await buildSession(stage.app.db, stage.merchant.accountId);
    const tab = await stage.visit(stage.merchant.testKey, `#/links/${session.id}`);
    const { page } = tab;
    await tab.press('Expire the link');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // The browser gives the focus back to the button that asked.
    await page.locator('button:focus', { hasText: 'Expire the link' }).waitFor();
    await tab.press('Expire the link');
    assert.deepEqual(await violations(page), []);
    await tab.press('Expire it');
    await tab.says('The link is expired.');
    await page.getByText('expired', { exact: true }).waitFor();
    const { status } = await CheckoutSession.query(stage.app.db).findById(session.id).throwIfNotFound();
    assert.equal(status, 'expired');
    await tab.leave();
  });

  it('refunds a payment in three clicks, and cancels the refund', async () => {
    const { payment } = await buildPaidSession(stage.app.db, stage.merchant.accountId);
    const tab = await stage.visit(stage.merchant.testKey, `#/payments/${payment.id}`);
    const { page } = tab;
    await tab.press('Refund');
    await tab.press('Create the refund');
    const third = page.getByRole('link', { name: 'Open the refund page' });
    await third.waitFor();
    const [refund] = await refundsOf(payment.id);
    assert.equal(await third.getAttribute('href'), `https://pay.example/c/${refund?.id}`);
    assert.equal(refund?.amountTotalCents, payment.amountCents);
    await page.getByRole('img', { name: "QR code of the refund's link" }).waitFor();
    await tab.goTo('#/');
    await page.getByRole('link', { name: 'A refund of $4.50' }).click();
    await tab.press('Cancel the refund');
    await tab.press('Cancel it');
    await tab.says('The refund is canceled.');
    await page.getByText('canceled', { exact: true }).waitFor();
    await tab.leave(404);
  });

  it('refunds a part with a reason, and no more than is left', async () => {
    const { payment } = await buildPaidSession(stage.app.db, stage.merchant.accountId);
    const tab = await stage.visit(stage.merchant.testKey, '#/refunds');
    const { page } = tab;
    await page.getByLabel('Payment to refund').fill(payment.id);
    await page.keyboard.press('Enter');
    await page.getByLabel('Amount in dollars').fill('4.51');
    await tab.press('Create the refund');
    await page.getByRole('alert').getByText('The amount is between $0.01 and $4.50').waitFor();
    await page.getByLabel('Amount in dollars').fill('1');
    await page.getByLabel('Reason').selectOption('Paid twice');
    await tab.press('Create the refund');
    await tab.sees('Refund');
    const [refund, ...others] = await refundsOf(payment.id);
    assert.deepEqual(others, []);
    assert.deepEqual([refund?.amountTotalCents, refund?.refund?.reason], [100, 'duplicate']);
    await tab.goTo(`#/payments/${payment.id}`);
    await tab.press('Refund');
    assert.equal(await page.getByLabel('Amount in dollars').inputValue(), '3.50');
    await page.getByText('Refund of $1.00 created').waitFor();
    await tab.leave();
  });

  it('sends a request that got no answer again under its key, so that nothing happens twice', async () => {
    const { payment } = await buildPaidSession(stage.app.db, stage.merchant.accountId);
    const tab = await stage.visit(stage.merchant.testKey, `#/payments/${payment.id}?refund=true`);
    const { page } = tab;
    await loseAnswer(page, '**/v1/refunds');
    await tab.press('Create the refund');
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    await tab.press('Create the refund');
    await tab.sees('Refund');
    assert.equal((await refundsOf(payment.id)).length, 1);
    await page.context().close();
  });

  it('makes a second refund of the same amount, when the first got no answer two minutes ago', async () => {
    const { payment } = await buildPaidSession(stage.app.db, stage.merchant.accountId);
    const tab = await stage.visit(stage.merchant.testKey, `#/payments/${payment.id}?refund=true`);
    const { page } = tab;
    await page.clock.install();
    await page.reload();
    await page.getByLabel('Amount in dollars').fill('1');
    await loseAnswer(page, '**/v1/refunds');
    await tab.press('Create the refund');
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    await page.clock.fastForward('02:00');
    await tab.press('Create the refund');
    await tab.sees('Refund');
    assert.equal((await refundsOf(payment.id)).length, 2);
    await page.context().close();
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
    await page.context().close();
  });

  it('shows a payment that arrives by itself, and downloads the list as CSV', async () => {
    const tab = await stage.visit(stage.merchant.testKey, '#/payments');
    const { page } = tab;
    await tab.sees('Payments');
    const { payment } = await buildPaidSession(stage.app.db, stage.merchant.accountId, {
      amountCents: 98_765,
    });
    await page.getByRole('cell', { name: '$987.65' }).waitFor();
    const downloaded = page.waitForEvent('download');
    await tab.press('Download CSV');
    const download = await downloaded;
    assert.equal(download.suggestedFilename(), 'payments-test.csv');
    const table = await readFile(await download.path(), 'utf8');
    assert.match(table, new RegExp(payment.id));
    await tab.says('payments-test.csv was downloaded.');
    await page.getByLabel('To', { exact: true }).fill('2020-01-01');
    await page.getByText('No payment fits these filters.').waitFor();
    await tab.leave();
  });

  it('names a payment that is undecided for long, however many links are newer', async () => {
    const { accountId, testKey } = await buildMerchant(stage.app.db);
    const madeAgo = (ms: number): { id: string } => ({
      id: `${lowestIdAt('pay_', Date.now() - ms)}${randomText(20)}`,
    });
    const { payment, session } = await buildUndecidedPayment(stage.app.db, accountId, madeAgo(600_000));
    await buildUndecidedPayment(stage.app.db, accountId, madeAgo(1000));
    await buildSessions(stage.app.db, accountId, 100);
    const tab = await stage.visit(testKey, '#/');
    const undecided = tab.page.getByRole('link', { name: 'A payment of $4.50' });
    await undecided.waitFor();
    assert.equal(await undecided.count(), 1);
    await undecided.click();
    await tab.page.getByText(payment.id).waitFor();
    await tab.page.locator(`dl a[href="#/links/${session.id}"]`).click();
    await tab.page.getByText('Do not ask the buyer to pay again.').waitFor();
    assert.equal(await tab.page.getByRole('button', { name: 'Expire the link' }).count(), 0);
    await tab.leave(404);
  });

  it('filters and downloads the payments of each status', async () => {
    const { db } = stage.app;
    const { accountId, testKey } = await buildMerchant(db);
    const { payment: processing } = await buildUndecidedPayment(db, accountId);
    const { payment: other } = await buildUndecidedPayment(db, accountId, { token: 'USDT' });
    const { payment: failed } = await buildUndecidedPayment(db, accountId, { status: 'failed' });
    await buildPaidSession(db, accountId);
    const tab = await stage.visit(testKey, '#/payments');
    const { page } = tab;
    const rows = page.locator('tbody tr');
    await page.getByLabel('Status', { exact: true }).selectOption('Being confirmed');
    await page.getByRole('cell', { name: 'USDT on Base Sepolia' }).waitFor();
    assert.equal(await rows.count(), 2);
    await page.getByLabel('Token', { exact: true }).selectOption('USDC');
    await page.getByRole('cell', { name: 'USDT on Base Sepolia' }).waitFor({ state: 'detached' });
    const downloaded = page.waitForEvent('download');
    await tab.press('Download CSV');
    const [, ...lines] = (await readFile(await (await downloaded).path(), 'utf8')).trim().split('\r\n');
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', new RegExp(processing.id));
    await page.getByLabel('Token', { exact: true }).selectOption('All');
    await page.locator(`a[href="#/payments/${other.id}"]`).waitFor();
    await page.getByLabel('Status', { exact: true }).selectOption('Failed');
    await page.locator(`a[href="#/payments/${failed.id}"]`).waitFor();
    assert.equal(await rows.count(), 1);
    await tab.leave();
  });

  it('deletes a key, and signs out who deletes the own one', async () => {
    const { accountId } = stage.merchant;
    const { secret } = await createApiKey(stage.app.db, { accountId, livemode: false, name: 'Mine' });
    await createApiKey(stage.app.db, { accountId, livemode: false, name: 'Old till' });
    const tab = await stage.visit(secret, '#/keys');
    const { page } = tab;
    const remove = async (name: string): Promise<void> => {
      await page
        .getByRole('row', { name: new RegExp(name) })
        .getByRole('button', { name: 'Delete key' })
        .click();
      await tab.press('Delete it');
    };
    await remove('Old till');
    await tab.says('The key Old till is deleted.');
    await page.getByRole('row', { name: /Old till/ }).waitFor({ state: 'detached' });
    await remove('Mine');
    await page.getByRole('alert').getByText('This key was deleted').waitFor();
    await tab.leave(401);
  });

  it('goes from the search box to the object of an id', async () => {
    const { payment, session } = await buildPaidSession(stage.app.db, stage.merchant.accountId);
    const tab = await stage.visit(stage.merchant.testKey, '#/keys');
    const box = tab.page.getByRole('searchbox');
    for (const [id, title] of [
      [payment.id, 'Payment'],
      [session.id, 'Link'],
      ['re_unknown', 'Refund'],
    ] as const) {
      await box.fill(` ${id} `);
      await box.press('Enter');
      await tab.sees(title);
    }
    await tab.page.getByText('Nothing with this id is in the data of this key.').waitFor();
    await tab.leave(404);
  });
});
