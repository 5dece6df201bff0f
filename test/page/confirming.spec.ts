import assert from 'node:assert/strict';
import type { Visitor } from '../../lab/world/page/visit.js';
import { evmWallet, neverEnds } from '../../lab/world/page/wallets.js';
import { buildUndecidedPayment } from '../../lab/world/shop/factories.js';
import { Payment } from '../../shared/payments/model.js';
import { lowestIdAt, randomText } from '../../shared/values/ids.js';
import { openShop, type Shop } from '../support/page/shop.js';

const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const LATE = 'This takes longer than usual. You may close this page';

describe('a payment in progress', function () {
  this.timeout(120_000);
  let shop: Shop;
  before(async () => {
    shop = await openShop({ worker: false });
  });
  after(async () => {
    await shop.close();
  });

  /** Claimed this many seconds ago. */
  async function undecided(seconds: number): Promise<string> {
    const id = `${lowestIdAt('pay_', Date.now() - seconds * 1000)}${randomText(20)}`;
    const { session } = await buildUndecidedPayment(shop.app.db, shop.merchant.accountId, { id });
    return session.id;
  }

  const reached = (visitor: Visitor): Promise<string[]> =>
    visitor.page.locator('.stages .reached').allTextContents();

  it('shows stage and elapsed time, first as sent, then with its transaction', async () => {
    // Claimed in the future, so that it is not late on slow machines.
    const id = await undecided(-600);
    const visitor = await shop.visitPage(id);
    assert.equal(await visitor.page.title(), 'Confirming: Cafe Pocket');
    assert.deepEqual(await reached(visitor), ['Sent']);
    assert.equal(await visitor.page.locator('.stages [aria-current]').textContent(), 'Sent');
    await visitor.page.getByText('0:00 so far', { exact: true }).waitFor();
    assert.equal(await visitor.page.getByText(LATE).isVisible(), false);
    await Payment.query(shop.app.db)
      .patch({ reportedTransaction: `0x${'5c'.repeat(32)}` })
      .where({ payableId: id });
    await visitor.page.locator('.stages .reached').nth(1).waitFor();
    assert.deepEqual(await reached(visitor), ['Sent', 'Transaction seen']);
    await visitor.leave();
  });

  it('is late after half a minute: the page says that it may be closed, hides the way to pay, and shows a reference', async () => {
    const id = await undecided(27);
    const visitor = await shop.visitPage(id);
    const late = visitor.page.locator('#late:visible');
    await late.filter({ hasText: LATE }).filter({ hasText: 'Nobody should pay again' }).waitFor();
    assert.equal(await late.locator('code').textContent(), id);
    await visitor.page.getByText(/^\d+:\d\d so far$/).waitFor();
    await visitor.leave();
  });

  it('is late without scripts too, and reloads itself', async () => {
    const id = await undecided(90);
    const visitor = await shop.visitPage(id, { browser: { javaScriptEnabled: false } });
    await visitor.page.getByText(LATE).waitFor();
    await visitor.page.locator('noscript p', { hasText: 'This page looks again' }).waitFor();
    assert.equal(await visitor.page.locator('#elapsed').isVisible(), false);
    const again = visitor.page.waitForRequest((request) => request.isNavigationRequest());
    await again;
    await visitor.leave();
  });

  describe('that completes', () => {
    let served: Shop;
    before(async () => {
      served = await openShop();
    });
    after(async () => {
      await served.close();
    });

    it('hides the cancel link from signing on', async () => {
      const session = await served.buildSession({ cancelUrl: 'https://shop.example/cart' });
      const wallet = evmWallet();
      wallet.balances.set(USDC, 25_000_000n);
      const hold = served.facilitator.verify.holdNext();
      const visitor = await served.visitPage(session, { wallets: [wallet] });
      const back = visitor.page.getByRole('link', { name: /Back to Cafe Pocket/ });
      await back.waitFor();
      await visitor.page.getByRole('button', { name: /Fox Wallet/ }).click();
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

    it('by another wallet says so while this wallet is asked, and what to do about its window', async () => {
      const { id } = await served.buildSession();
      const wallet = evmWallet();
      wallet.balances.set(USDC, 25_000_000n);
      wallet.next.set('eth_signTypedData_v4', neverEnds);
      const visitor = await served.visitPage(id, { wallets: [wallet] });
      await visitor.page.getByRole('button', { name: /Fox Wallet/ }).click();
      await visitor.sees('Confirm in Fox Wallet');
      assert.equal(await visitor.page.title(), 'Confirm in Fox Wallet');
      const hold = served.facilitator.settle.holdNext();
      const paying = served.pay(id);
      const alert = visitor.page.getByRole('alert');
      await alert.filter({ hasText: /Somebody else began to pay.*still asks, decline there/ }).waitFor();
      hold.release();
      await paying;
      await alert.filter({ hasText: /Somebody else paid this order/ }).waitFor();
      await visitor.sees('Payment complete');
      await visitor.leave();
    });
  });
});
