import assert from 'node:assert/strict';
import {
  buildMerchant,
  buildPaidSession,
  buildRefund,
  buildSession,
} from '../../lab/world/shop/factories.js';
import { createApiKey } from '../../shared/accounts/api-keys.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { Payable } from '../../shared/payables/model.js';
import { OUTCOME_UNKNOWN } from '../../shared/payments/states.js';
import { newId } from '../../shared/values/ids.js';
import { openStage } from '../support/dashboard/stage.js';
import { forAllTests } from '../support/hooks.js';
import { violations } from '../support/page/accessibility.js';

describe('a merchant in the dashboard', () => {
  const stage = forAllTests(openStage);

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
    await tab.press('Add metadata');
    await fill('Value 2', 'nameless');
    await tab.press('Create the link');
    await page.getByRole('alert').getByText('The price of item 2').waitFor();
    await fill('Price in dollars', '3');
    await tab.press('Create the link');
    await page.getByRole('alert').getByText('Value 2 of the metadata has no name.').waitFor();
    await fill('Name 2', 'colour');
    await tab.press('Create the link');
    await page.getByRole('alert').getByText('Two values of the metadata have the name colour.').waitFor();
    await fill('Name 2', '');
    await fill('Value 2', '');
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

  it('refunds all that is left after more refunds than one page of the list has', async () => {
    const { db } = stage.app;
    const { accountId } = stage.merchant;
    const first = await buildRefund(db, accountId, { amountTotalCents: 1 });
    const payment = first.refundedPaymentId;
    const others = Array.from({ length: 100 }, () => ({ ...first.$toJson(), id: newId('re_') }));
    await Payable.query(db).insert(others as Partial<Payable>[]);
    const tab = await stage.visit(stage.merchant.testKey, `#/payments/${payment}`);
    const { page } = tab;
    await page.getByText('The newest 100 refunds are shown.').waitFor();
    await tab.press('Refund');
    assert.equal(await page.getByLabel('Amount in dollars').inputValue(), '');
    await page.getByLabel('Amount in dollars').fill('3.50');
    await tab.press('Create the refund');
    await page.getByRole('alert').getByText('349 cents of this payment are left to refund.').waitFor();
    await page.getByLabel('Amount in dollars').fill('');
    await tab.press('Create the refund');
    await tab.says('The refund of $3.49 is created.');
    await tab.goTo(`#/payments/${payment}`);
    await page.getByRole('link', { name: 'All refunds of the payment' }).click();
    await tab.sees('Refunds');
    assert.equal(new URL(page.url()).hash, `#/refunds?payment=${payment}`);
    await tab.leave(400);
  });

  it('is told of a refund that may be paid already wherever it is shown, and warned before signing or replacing it', async () => {
    const { db } = stage.app;
    const { accountId, testKey } = await buildMerchant(db);
    const { id, refundedPaymentId } = await buildRefund(db, accountId, { failureCode: OUTCOME_UNKNOWN });
    const waiting = await buildRefund(db, accountId, { failureCode: 'insufficient_funds' });
    const tab = await stage.visit(testKey, '#/');
    const { page } = tab;
    const noteOf = (refund: string) =>
      page.locator('.attention li').filter({ has: page.locator(`a[href$="${refund}"]`) });
    await noteOf(id).getByText('may be paid already: the outcome of its payment is not known.').waitFor();
    await noteOf(waiting.id).getByText('waits for your signature.').waitFor();
    assert.equal(await noteOf(id).getByText('waits for your signature').count(), 0);
    await tab.goTo('#/refunds');
    const badges = page.getByRole('table').locator('.badge');
    await badges.first().waitFor();
    assert.deepEqual(await badges.allTextContents(), ['waits for your signature', 'may be paid already']);
    await tab.goTo(`#/payments/${refundedPaymentId}`);
    await page.locator('.badge').getByText('may be paid already').waitFor();
    await tab.goTo(`#/refunds/${id}`);
    await page.getByText('A payment of this refund may have been taken').waitFor();
    await page.locator('.badge').getByText('may be paid already').waitFor();
    assert.equal(await page.getByText('Last payment failed').count(), 0);
    await tab.press('Cancel the refund');
    await page.getByRole('dialog').getByText('another refund could pay the buyer twice').waitFor();
    assert.deepEqual(await violations(page), []);
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
});
