import assert from 'node:assert/strict';
import type { Visitor } from '../../lab/world/page/visit.js';
import { fundedWallet } from '../../lab/world/page/wallets.js';
import { buildUndecidedPayment } from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { Payment } from '../../shared/payments/model.js';
import { lowestIdAt, randomText } from '../../shared/values/ids.js';
import { client } from '../support/api-client.js';
import { forAllTests } from '../support/hooks.js';
import { openShop } from '../support/page/shop.js';

const FOX = /Fox Wallet/;
const LATE = 'This takes longer than usual. You may close this page';

/** Each state, reached while the page is open and again after a reload. */
describe('an open page', () => {
  // Each payment is answered with 202, and the page follows it.
  const shop = forAllTests(() => openShop({ environment: { SETTLE_WAIT_MS: '0' } }));

  /** The id of a session whose payment was claimed this many seconds ago. */
  async function undecided(seconds: number): Promise<string> {
    const id = `${lowestIdAt('pay_', Date.now() - seconds * 1000)}${randomText(20)}`;
    const { session } = await buildUndecidedPayment(shop.app.db, shop.merchant.accountId, { id });
    return session.id;
  }

  const reached = (visitor: Visitor): Promise<string[]> =>
    visitor.page.locator('.stages .reached').allTextContents();

  it('shows an expiry by the merchant within 3 s', async () => {
    const session = await shop.buildSession({ cancelUrl: 'https://shop.example/cart' });
    const visitor = await shop.visitPage(session);
    // The page has polled once, so that its next poll must show the expiry.
    await visitor.page.waitForResponse('**/status');
    await client(shop.app, shop.merchant.testKey)
      .post(`/v1/checkout/sessions/${session.id}/expire`)
      .expect(200);
    await visitor.seesByItself('This link has expired');
    assert.equal(await visitor.page.title(), 'Expired: Cafe Pocket');
    await visitor.page.getByText('Cafe Pocket ended it before its time.').waitFor();
    assert.equal(await visitor.page.locator('.payment time').count(), 0);
    assert.deepEqual(visitor.problems, []);
    await visitor.page.reload();
    await visitor.sees('This link has expired');
    const back = visitor.page.locator('.payment').getByRole('link', { name: /Back to Cafe Pocket/ });
    assert.equal(await back.getAttribute('href'), 'https://shop.example/cart');
  });

  it('shows a payment by an agent, and lets the buyer stay on the receipt', async () => {
    const { id } = await shop.buildSession({ successUrl: 'https://shop.example/thanks' });
    const visitor = await shop.visitPage(id, { prepare: async (page) => void (await page.clock.install()) });
    await visitor.sees('Pay with your wallet');
    // The redirect waits, however slow the machine is.
    await visitor.page.clock.pauseAt(Date.now() + 60_000);
    await shop.pay(id);
    await visitor.sees('Payment complete');
    await visitor.press('Stay here');
    assert.equal(await visitor.page.locator('#redirect').isVisible(), false);
    assert.equal((await shop.payment(id)).channel, 'x402');
    await visitor.page.reload();
    await visitor.sees('Payment complete');
    await visitor.leave();
  });

  it('shows the payment of another tab in progress, and then paid', async () => {
    const { id } = await shop.buildSession();
    const [payer, other] = await Promise.all([
      shop.visitPage(id, { wallets: [fundedWallet()] }),
      shop.visitPage(id),
    ]);
    // A desktop shows this to the buyer who pays on a phone.
    await other.page.getByRole('img', { name: /QR code/ }).waitFor();
    await other.page.getByText(/This page follows by itself/).waitFor();
    await other.page.getByText(/First withdraw it to a wallet of your own/).waitFor();
    const hold = shop.facilitator.settle.holdNext();
    await payer.press(FOX);
    await payer.sees('Confirming the payment');
    await payer.page.getByText('Your payment is on its way.', { exact: true }).waitFor();
    await other.sees('Confirming the payment');
    await other.page.getByText('A payment for this order is on its way.', { exact: true }).waitFor();
    hold.release();
    await Promise.all([payer.sees('Payment complete'), other.sees('Payment complete')]);
    await payer.leave();
    await other.leave();
  });

  it('shows stage, elapsed time and transaction of a payment in progress, and says when it is late', async () => {
    // The payment was claimed in the future, so that it is not late on slow machines.
    const id = await undecided(-600);
    const visitor = await shop.visitPage(id, { prepare: async (page) => void (await page.clock.install()) });
    const { page } = visitor;
    assert.equal(await page.title(), 'Confirming: Cafe Pocket');
    assert.deepEqual(await reached(visitor), ['Sent']);
    assert.equal(await page.locator('.stages [aria-current]').textContent(), 'Sent');
    await page.getByText('0:00 so far', { exact: true }).waitFor();
    assert.equal(await page.getByText(LATE).isVisible(), false);
    const transaction = `0x${'5c'.repeat(32)}`;
    await Payment.query(shop.app.db).patch({ reportedTransaction: transaction }).where({ payableId: id });
    const link = page.getByRole('link', { name: 'See the transaction' });
    await visitor.hurry(link.waitFor());
    assert.match((await link.getAttribute('href')) ?? '', new RegExp(`/tx/${transaction}$`));
    assert.deepEqual(await reached(visitor), ['Sent', 'Transaction seen']);
    await page.clock.fastForward(640_000);
    const late = page.locator('#late:visible');
    await late.filter({ hasText: LATE }).filter({ hasText: 'Nobody should pay again' }).waitFor();
    assert.equal(await late.locator('code').textContent(), id);
    await page.getByText(/^\d+:\d\d so far$/).waitFor();
    await visitor.leave();
  });

  it('looks again by itself, without scripts too: a late payment, a payment service that is unavailable', async () => {
    const plainly = { browser: { javaScriptEnabled: false } };
    const { facilitators } = shop.app;
    const { supported } = facilitators;
    const late = await shop.visitPage(await undecided(90), plainly);
    await late.page.getByText(LATE).waitFor();
    assert.equal(await late.page.locator('#elapsed').isVisible(), false);
    const reloaded = late.page.waitForRequest((request) => request.isNavigationRequest());
    facilitators.supported = async () => undefined;
    const { id } = await shop.buildSession();
    const [scripted, plain] = [await shop.visitPage(id), await shop.visitPage(id, plainly)];
    await Promise.all([scripted, plain].map((visitor) => visitor.seesByItself('One moment, please')));
    for (const { page } of [late, plain])
      await page.locator('noscript p', { hasText: 'This page looks again' }).waitFor();
    facilitators.supported = supported;
    await Promise.all([scripted, plain].map((visitor) => visitor.seesByItself('Pay with your wallet')));
    await reloaded;
    for (const visitor of [late, scripted, plain]) await visitor.leave();
  });

  it('hides the cancel link from signing on', async () => {
    const session = await shop.buildSession({ cancelUrl: 'https://shop.example/cart' });
    const hold = shop.facilitator.verify.holdNext();
    const visitor = await shop.visitPage(session, { wallets: [fundedWallet()] });
    const back = visitor.page.getByRole('link', { name: /Back to Cafe Pocket/ });
    await back.waitFor();
    await visitor.press(FOX);
    await visitor.sees('Sending the payment');
    assert.equal(await visitor.page.title(), 'Sending the payment');
    assert.equal(await back.count(), 0);
    assert.equal(await visitor.page.getByRole('button', { name: 'Cancel' }).count(), 0);
    await visitor.page.locator('#elapsed', { hasText: 'so far' }).waitFor();
    hold.release();
    await visitor.sees('Payment complete');
    assert.equal(await visitor.page.title(), 'Paid: Cafe Pocket');
    assert.equal(await back.count(), 0);
    await visitor.leave();
  });

  it('counts down in the last quarter only, and ends when the session expires', async () => {
    const calm = await shop.visitPage((await shop.buildSession()).id);
    assert.equal(await calm.page.locator('#countdown').isVisible(), false);
    await calm.leave();
    // The id holds the time of creation, which is in the past.
    const id = `${lowestIdAt('cs_test_', Date.now() - 1_800_000)}${randomText(20)}`;
    const expiresAt = new Date(Date.now() + 240_000);
    const visitor = await shop.visitPage(await shop.buildSession({ id, expiresAt }));
    await visitor.page.locator('#countdown', { hasText: /[0-3]:[0-5]\d/ }).waitFor();
    await CheckoutSession.query(shop.app.db).findById(id).patch({ expiresAt: new Date() });
    await visitor.sees('This link has expired');
    await visitor.leave();
  });

  it('says that the service is unavailable, or that it is offline, and continues afterwards', async () => {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id);
    const { page } = visitor;
    const [unreachable, offline] = [
      page.getByText('We cannot be reached at the moment.'),
      page.getByText('You are offline.'),
    ];
    await page.route('**/status', (route) => route.fulfill({ status: 503 }));
    await visitor.hurry(unreachable.waitFor());
    assert.equal(await offline.count(), 0);
    await page.unroute('**/status');
    await visitor.hurry(unreachable.waitFor({ state: 'hidden' }));
    await page.context().setOffline(true);
    await offline.waitFor();
    await shop.pay(id);
    await page.context().setOffline(false);
    await visitor.sees('Payment complete');
    await offline.waitFor({ state: 'hidden' });
    await visitor.close();
  });

  it('redirects to the merchant after the receipt, unless the buyer stays', async () => {
    const successUrl = 'https://shop.example/thanks?session={id}';
    const { id } = await shop.buildSession({ successUrl });
    const visited: string[] = [];
    const visitor = await shop.visitPage(id, {
      wallets: [fundedWallet()],
      prepare: async (page) => {
        await page.clock.install();
        await page.route('https://shop.example/**', async (route) => {
          visited.push(route.request().url(), route.request().headers().referer ?? 'no referrer');
          await route.fulfill({ body: 'Thanks' });
        });
      },
    });
    await visitor.press(FOX);
    await visitor.sees('Payment complete');
    await visitor.page.getByText('You will be taken there in').waitFor();
    await visitor.page.clock.runFor(9000);
    await visitor.page.waitForURL('https://shop.example/**');
    assert.deepEqual(visited.slice(1), ['no referrer']);
    await visitor.page.goBack();
    // Going back does not redirect again.
    await visitor.sees('Payment complete');
    assert.equal(await visitor.page.locator('#redirect').isVisible(), false);
    await visitor.leave();
  });
});
