import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import {
  buildMerchant,
  buildPaidSession,
  buildRefund,
  buildSessions,
  buildUndecidedPayment,
} from '../../lab/world/shop/factories.js';
import { OUTCOME_UNKNOWN } from '../../shared/payments/states.js';
import { lowestIdAt, randomText } from '../../shared/values/ids.js';
import { openStage } from '../support/dashboard/stage.js';
import { forAllTests } from '../support/hooks.js';
import { violations } from '../support/page/accessibility.js';

describe("the dashboard's view of payments", () => {
  const stage = forAllTests(openStage);

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

  it('filters payments by status, token and network, downloads what they show, and says when an answer broke off', async () => {
    const { db } = stage.app;
    const { accountId, testKey } = await buildMerchant(db);
    const { payment: processing } = await buildUndecidedPayment(db, accountId);
    const { payment: other } = await buildUndecidedPayment(db, accountId, { token: 'USDT' });
    const { payment: failed } = await buildUndecidedPayment(db, accountId, { status: 'failed' });
    const here = await buildPaidSession(db, accountId);
    const elsewhere = await buildPaidSession(db, accountId, { network: 'eip155:80002' });
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
    await page.getByLabel('Status', { exact: true }).selectOption('Succeeded');
    const shownHere = page.locator(`a[href="#/payments/${here.payment.id}"]`);
    await shownHere.waitFor();
    await page.getByLabel('Network').selectOption('Polygon Amoy');
    await shownHere.waitFor({ state: 'detached' });
    await page.locator(`a[href="#/payments/${elsewhere.payment.id}"]`).waitFor();
    assert.equal(await rows.count(), 1);
    // The list has arrived: only the download breaks off.
    await page.evaluate("Response.prototype.blob = () => Promise.reject(new TypeError('Failed to fetch'))");
    await tab.press('Download CSV');
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    await tab.leave();
  });

  it('says of a payment that failed uncertainly that the buyer may have paid, and calls it so in its lists', async () => {
    const { accountId, testKey } = await buildMerchant(stage.app.db);
    const open = (failureCode: string) =>
      buildUndecidedPayment(stage.app.db, accountId, { status: 'failed', failureCode });
    const { payment: uncertain, session } = await open(OUTCOME_UNKNOWN);
    const { payment: refused, session: unpaid } = await open('insufficient_funds');
    const tab = await stage.visit(testKey, `#/payments/${uncertain.id}`);
    const warning = tab.page.getByText('The buyer may have paid');
    await warning.waitFor();
    await tab.page.getByText('its outcome is not known', { exact: false }).first().waitFor();
    assert.deepEqual(await violations(tab.page), []);
    await tab.goTo(`#/payments/${refused.id}`);
    await tab.page.getByText('insufficient_funds').waitFor();
    assert.equal(await warning.count(), 0);
    await tab.goTo(`#/links/${unpaid.id}`);
    await tab.page.getByText(unpaid.id).first().waitFor();
    assert.equal(await warning.count(), 0);
    await tab.goTo(`#/links/${session.id}`);
    await warning.getByRole('link').click();
    await tab.sees('Payment');
    await tab.goTo('#/payments?status=failed');
    const badges = tab.page.getByRole('table').locator('.badge:visible');
    for (const width of [1280, 390]) {
      await tab.page.setViewportSize({ width, height: 800 });
      await badges.first().waitFor();
      assert.deepEqual(await badges.allTextContents(), ['failed', 'may be paid already']);
    }
    await tab.leave();
  });

  it('asks the merchant, not the buyer, about a payment of a refund whose outcome is not known', async () => {
    const { db } = stage.app;
    const { accountId, testKey } = await buildMerchant(db);
    const refund = await buildRefund(db, accountId, { failureCode: OUTCOME_UNKNOWN });
    const { payment } = await buildUndecidedPayment(db, accountId, {
      payableId: refund.id,
      status: 'failed',
      failureCode: OUTCOME_UNKNOWN,
    });
    const tab = await stage.visit(testKey, `#/payments/${payment.id}`);
    await tab.page.getByText('A payment of this refund may have been taken').waitFor();
    assert.equal(await tab.page.getByText('The buyer may have paid').count(), 0);
    await tab.leave();
  });

  it('says that the timeline may lack events that cannot be read', async () => {
    const { payment } = await buildPaidSession(stage.app.db, stage.merchant.accountId);
    const tab = await stage.visit(stage.merchant.testKey, '#/keys');
    await tab.page.route('**/v1/events?*', (route) => route.abort());
    await tab.goTo(`#/payments/${payment.id}`);
    await tab.page.getByText('Events and deliveries may be missing here. The service cannot be').waitFor();
    await tab.close();
  });
});
