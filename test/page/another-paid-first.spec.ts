import assert from 'node:assert/strict';
import type { Page, Route } from 'playwright-core';
import type { Visitor } from '../../lab/world/page/visit.js';
import { fundedWallet, holdAnswers } from '../../lab/world/page/wallets.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { withResolvers } from '../../shared/process/with-resolvers.js';
import { forAllTests } from '../support/hooks.js';
import { openShop } from '../support/page/shop.js';

const FOX = /Fox Wallet/;

describe('a page on which a buyer pays what another payment pays first', () => {
  // Each payment is answered with 202, and the page follows it.
  const shop = forAllTests(() => openShop({ environment: { SETTLE_WAIT_MS: '0' } }));

  it('drops its signature when another payment is faster, and says what to do about the window', async () => {
    const { id } = await shop.buildSession();
    const wallet = fundedWallet();
    const sign = holdAnswers(wallet, 'eth_signTypedData_v4');
    const visitor = await shop.visitPage(id, { wallets: [wallet] });
    await visitor.press(FOX);
    await visitor.sees('Confirm in Fox Wallet');
    assert.equal(await visitor.page.title(), 'Confirm in Fox Wallet');
    const hold = shop.facilitator.settle.holdNext();
    await shop.pay(id);
    await visitor.alerts(/Somebody else began to pay.*still asks, decline there/);
    hold.release();
    await visitor.alerts(/Somebody else paid this order.*still asks, decline there/);
    await visitor.sees('Payment complete');
    sign();
    assert.equal((await shop.payments(id)).length, 1);
    await visitor.leave();
  });

  /** A page whose signed payment the facilitator has not verified yet, when an agent has paid the same session. */
  async function overtaken(
    parts: Partial<CheckoutSession>,
    prepare?: (page: Page) => Promise<void>,
  ): Promise<{ id: string; visitor: Visitor; release: () => void }> {
    const { id } = await shop.buildSession(parts);
    const visitor = await shop.visitPage(id, { wallets: [fundedWallet()], ...(prepare && { prepare }) });
    const hold = shop.facilitator.verify.holdNext();
    const verifies = shop.facilitator.calls.verify.length;
    await visitor.press(FOX);
    await shop.facilitator.waitForCall('verify', verifies + 1);
    await shop.pay(id);
    await shop.becomes(id, {
      session: 'complete',
      payments: ['succeeded'],
      events: ['checkout.session.completed'],
    });
    return { id, visitor, release: () => hold.release() };
  }

  it('says that its payment was not used when another one arrived first', async () => {
    const { promise: answer, resolve: answered } = withResolvers();
    // No poll sees the other payment before the answer.
    const { visitor, release } = await overtaken({}, async (page) => {
      await page.route('**/status', async (route) => {
        await answer;
        await route.continue();
      });
      page.on('response', (response) => {
        if (response.url().endsWith('/pay')) answered();
      });
    });
    release();
    await visitor.alerts('This order was paid already');
    await visitor.sees('Payment complete');
    await visitor.leave();
  });

  it('says so too when it shows the receipt of the other payment already, which it leaves only then', async () => {
    const { visitor, release } = await overtaken({ successUrl: 'https://shop.example/thanks' });
    await visitor.sees('Payment complete');
    const leaves = visitor.page.getByText('You will be taken there in');
    assert.equal(await leaves.count(), 0);
    release();
    await visitor.alerts('This order was paid already');
    await leaves.waitFor();
    await visitor.leave();
  });

  it('warns of an uncertain payment of its own while it shows another one in progress', async () => {
    const { id } = await shop.buildSession({ successUrl: 'https://shop.example/thanks' });
    const answers: Route[] = [];
    const prepare = async (page: Page): Promise<void> => {
      await page.route('**/pay', (route) => void answers.push(route));
    };
    const visitor = await shop.visitPage(id, { wallets: [fundedWallet()], prepare });
    await visitor.press(FOX);
    await visitor.sees('Sending the payment');
    const hold = shop.facilitator.settle.holdNext();
    await shop.pay(id);
    await visitor.sees('Confirming the payment');
    const warning = visitor.page.getByRole('alert').filter({ hasText: 'may have been taken' });
    assert.equal(await warning.count(), 0);
    await answers[0]?.fulfill({ json: { outcome: 'others', uncertain: true, payment: 'pay_uncertain' } });
    await warning.waitFor();
    assert.equal((await shop.session(id)).status, 'processing');
    hold.release();
    await visitor.sees('Payment complete');
    await warning.waitFor();
    assert.equal(await visitor.page.getByText('You will be taken there in').count(), 0);
    await visitor.leave();
  });
});
