import assert from 'node:assert/strict';
import type { Route } from 'playwright-core';
import { failsToSettle } from '../../lab/world/facilitator/dial.js';
import type { Visitor } from '../../lab/world/page/visit.js';
import { fundedWallet, holdAnswers } from '../../lab/world/page/wallets.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { Payable } from '../../shared/payables/model.js';
import { forAllTests } from '../support/hooks.js';
import { openShop } from '../support/page/shop.js';
import { buildUncertainPayment } from '../support/uncertain-payment.js';

const FOX = /Fox Wallet/;
const STATUS = '**/status';

describe('a page that learns late of a change', () => {
  // Each payment is answered with 202, and the page follows it.
  const shop = forAllTests(() => openShop({ environment: { SETTLE_WAIT_MS: '0' } }));

  /** The buyer pays, and the payment fails before the page can ask for the status again. */
  async function failUnseen(visitor: Visitor, id: string, failures: number): Promise<void> {
    const hold = shop.facilitator.settle.holdNext(failsToSettle('kyt_risk_detected'));
    await visitor.page.route(STATUS, (route) => route.abort());
    const answer = visitor.page.waitForResponse('**/pay');
    await visitor.press(FOX);
    assert.equal((await (await answer).json()).outcome, 'taken');
    hold.release();
    const payments = Array(failures).fill('failed');
    await shop.becomes(id, { session: 'open', payments, events: [] });
    await visitor.page.unroute(STATUS);
  }

  it('says why the payment failed, though it saw none in progress, and accepts another one', async () => {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id, { wallets: [fundedWallet()] });
    // The second failure leaves the link as the first one did.
    for (const failures of [1, 2]) {
      await failUnseen(visitor, id, failures);
      await visitor.alerts(/refused this wallet/);
      await visitor.sees('Pay with your wallet');
    }
    await visitor.press(FOX);
    await visitor.sees('Payment complete');
    await visitor.close();
  });

  it('takes what a wallet signs when the buyer began while the page fetched a change', async () => {
    const { id } = await shop.buildSession();
    const wallet = fundedWallet();
    const sign = holdAnswers(wallet, 'eth_signTypedData_v4');
    const visitor = await shop.visitPage(id, { wallets: [wallet] });
    const { page } = visitor;
    const document = new Promise<Route>((resolve) => void page.route('**/page', resolve, { times: 1 }));
    // The session now looks as after a payment of somebody else that failed.
    const failure = { failureCode: 'kyt_risk_detected', failureAt: new Date() };
    await Payable.query(shop.app.db).patch(failure).where({ id });
    const fetching = await document;
    await visitor.press(FOX);
    await visitor.sees('Confirm in Fox Wallet');
    await fetching.continue();
    await page.waitForResponse(STATUS);
    await page.waitForResponse(STATUS);
    sign();
    await visitor.sees('Payment complete');
    await visitor.leave();
  });

  it('stops an attempt when another payment may have been taken, and warns', async () => {
    const { id } = await shop.buildSession();
    const wallet = fundedWallet();
    const sign = holdAnswers(wallet, 'eth_signTypedData_v4');
    const visitor = await shop.visitPage(id, { wallets: [wallet] });
    await visitor.press(FOX);
    await visitor.sees('Confirm in Fox Wallet');
    const { payment } = await buildUncertainPayment(shop, { session: await shop.session(id) });
    await visitor.sees('may have been taken');
    await visitor.alerts(/Somebody else began to pay.*still asks, decline there/);
    sign();
    // The wallet was asked for nothing else.
    assert.equal(await visitor.page.getByRole('button', { name: FOX }).count(), 0);
    await visitor.press('I have read this');
    await visitor.press(FOX);
    await visitor.sees('Payment complete');
    const payments = await shop.payments(id);
    assert.equal(payments.filter((one) => one.id !== payment.id).length, 1);
    assert.equal(await visitor.page.getByText('Somebody else began').count(), 0);
    await visitor.leave();
  });

  /** The link ends while the request with the signed payment is on its way. */
  async function expireWhileSending(): Promise<{ id: string; visitor: Visitor; sending: Route }> {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id, { wallets: [fundedWallet()] });
    const sent = new Promise<Route>((resolve) => void visitor.page.route('**/pay', resolve, { times: 1 }));
    await visitor.press(FOX);
    const sending = await sent;
    await CheckoutSession.query(shop.app.db).findById(id).patch({ expiresAt: new Date() });
    return { id, visitor, sending };
  }

  it('says that nothing was taken when the link expires before its payment arrives', async () => {
    const { id, visitor, sending } = await expireWhileSending();
    await sending.continue();
    await visitor.sees('This link has expired');
    await visitor.alerts('Nothing was taken.');
    assert.deepEqual(await shop.payments(id), []);
    await visitor.leave();
  });

  it('warns of its own payment when the link expires before the answer, and asks nobody for a new link', async () => {
    const { id, visitor, sending } = await expireWhileSending();
    await visitor.sees('This link has expired');
    const { commits } = shop.app;
    const { mayHaveLost } = commits;
    // Postgres may have forgotten the payment, as after a failover.
    commits.mayHaveLost = () => true;
    await sending.continue();
    await visitor.alerts('may have been taken');
    commits.mayHaveLost = mayHaveLost;
    const text = (await visitor.page.getByRole('alert').filter({ hasText: id }).textContent()) ?? '';
    assert.match(text, /Do not pay again before you have asked Cafe Pocket/);
    assert.equal(await visitor.page.locator('#new-link').count(), 0);
    await visitor.leave();
  });

  it('says why the payment failed when it asks again after a reload, and offers another wallet first', async () => {
    const { id } = await shop.buildSession();
    const wallets = [fundedWallet(), fundedWallet('Bear Wallet')];
    const hold = shop.facilitator.settle.holdNext(failsToSettle('kyt_risk_detected'));
    const visitor = await shop.visitPage(id, { wallets });
    const { page } = visitor;
    const arrived = new Promise<void>((resolve) => {
      // The answer is lost.
      void page.route('**/pay', (route) => void route.fetch().then(() => resolve()), { times: 1 });
    });
    await visitor.press(FOX);
    await arrived;
    await page.reload();
    await visitor.sees('Confirming the payment');
    const again = page.waitForResponse('**/pay');
    hold.release();
    await visitor.hurry(again);
    await visitor.alerts(/refused this wallet.*Nothing was taken/);
    await page.locator('#wallets').getByRole('button').first().filter({ hasText: 'Bear' }).waitFor();
    assert.equal((await shop.payments(id)).length, 1);
    await visitor.leave();
  });
});
