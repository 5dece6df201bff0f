import assert from 'node:assert/strict';
import { answers, failsToSettle } from '../../lab/world/facilitator/dial.js';
import { evmWallet, neverEnds } from '../../lab/world/page/wallets.js';
import { Payment } from '../../shared/payments/model.js';
import { lowestIdAt, randomText } from '../../shared/values/ids.js';
import { client } from '../support/api-client.js';
import { openShop, type Shop } from '../support/page/shop.js';

const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
/** The page polls every two seconds; slow machines may take longer. */
const PROMPT_MS = 30_000;

/** Each state, reached while the page is open and again after a reload. */
describe('an open page', function () {
  this.timeout(120_000);
  let shop: Shop;
  before(async () => {
    shop = await openShop();
  });
  after(async () => {
    await shop.close();
  });

  function funded() {
    const wallet = evmWallet();
    wallet.balances.set(USDC, 25_000_000n);
    return wallet;
  }

  it('shows an expiry by the merchant within 3 s', async () => {
    const session = await shop.buildSession({ cancelUrl: 'https://shop.example/cart' });
    const visitor = await shop.visitPage(session);
    await visitor.sees('Pay with your wallet');
    await client(shop.app, shop.merchant.testKey)
      .post(`/v1/checkout/sessions/${session.id}/expire`)
      .expect(200);
    await visitor.sees('This link has expired', PROMPT_MS);
    assert.equal(await visitor.page.title(), 'Expired: Cafe Pocket');
    await visitor.page.getByText('Cafe Pocket ended it before its time.').waitFor();
    assert.equal(await visitor.page.locator('.payment time').count(), 0);
    assert.deepEqual(visitor.problems, []);
    await visitor.page.reload();
    await visitor.sees('This link has expired');
    const back = visitor.page.locator('.payment').getByRole('link', { name: /Back to Cafe Pocket/ });
    assert.equal(await back.getAttribute('href'), 'https://shop.example/cart');
  });

  it('shows a payment by an agent within 3 s', async () => {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id);
    await visitor.sees('Pay with your wallet');
    await shop.pay(id);
    await visitor.sees('Payment complete', PROMPT_MS);
    assert.equal((await shop.payment(id)).channel, 'x402');
    await visitor.page.reload();
    await visitor.sees('Payment complete');
    await visitor.leave();
  });

  it('shows the payment of another tab in progress, and then paid', async () => {
    const { id } = await shop.buildSession();
    const [payer, other] = await Promise.all([
      shop.visitPage(id, { wallets: [funded()] }),
      shop.visitPage(id),
    ]);
    const hold = shop.facilitator.settle.holdNext();
    await payer.page.getByRole('button', { name: /Fox Wallet/ }).click();
    await payer.sees('Confirming the payment');
    await payer.page.getByText('Your payment is on its way.', { exact: true }).waitFor();
    await other.sees('Confirming the payment', PROMPT_MS);
    await other.page.getByText('A payment for this order is on its way.', { exact: true }).waitFor();
    hold.release();
    await Promise.all([payer.sees('Payment complete'), other.sees('Payment complete')]);
    await payer.leave();
    await other.leave();
  });

  it('drops its signature when another payment was faster, and says so', async () => {
    const { id } = await shop.buildSession();
    const wallet = funded();
    let sign = (): void => {};
    const honest = wallet.answer;
    const signed = new Promise<void>((resolve) => {
      sign = resolve;
    });
    wallet.answer = async (method, params) => {
      if (method === 'eth_signTypedData_v4') await signed;
      return await honest(method, params);
    };
    const visitor = await shop.visitPage(id, { wallets: [wallet] });
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).click();
    await visitor.sees('Confirm in Fox Wallet');
    await shop.pay(id);
    await visitor.sees('Payment complete', PROMPT_MS);
    const alert = visitor.page.getByRole('alert');
    await alert.filter({ hasText: /Somebody else paid this order.*still asks, decline there/ }).waitFor();
    sign();
    assert.equal((await shop.payments(id)).length, 1);
    await visitor.leave();
  });

  it('says that its payment was not used when another one arrived first', async () => {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id, { wallets: [funded()] });
    const hold = shop.facilitator.verify.holdNext();
    const verifies = shop.facilitator.calls.verify.length;
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).click();
    await shop.facilitator.waitForCall('verify', verifies + 1);
    await shop.pay(id);
    hold.release();
    await visitor.sees('Payment complete');
    await visitor.page.getByRole('alert').filter({ hasText: 'This order was paid already' }).waitFor();
    await visitor.leave();
  });

  it('shows the transaction once it is known', async () => {
    const { id } = await shop.buildSession();
    const hold = shop.facilitator.settle.holdNext();
    const visitor = await shop.visitPage(id, { wallets: [funded()] });
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).click();
    await visitor.sees('Confirming the payment');
    const transaction = `0x${'5c'.repeat(32)}`;
    await Payment.query(shop.app.db).patch({ reportedTransaction: transaction }).where({ payableId: id });
    const link = visitor.page.getByRole('link', { name: 'See the transaction' });
    await link.waitFor({ timeout: PROMPT_MS });
    assert.match((await link.getAttribute('href')) ?? '', new RegExp(`/tx/${transaction}$`));
    hold.release();
    await visitor.sees('Payment complete');
    await visitor.leave();
  });

  it('shows why a payment failed after a 202, and accepts another one', async () => {
    // Without a worker, since that would settle payments at its own facilitator.
    const hasty = await openShop({ worker: false, environment: { SETTLE_WAIT_MS: '0' } });
    try {
      const { id } = await hasty.buildSession();
      const hold = shop.facilitator.settle.holdNext(failsToSettle('insufficient_funds'));
      const visitor = await hasty.visitPage(id, { wallets: [funded()] });
      await visitor.page.getByRole('button', { name: /Fox Wallet/ }).click();
      await visitor.sees('Confirming the payment');
      hold.release();
      await visitor.page
        .getByRole('alert')
        .filter({ hasText: /did not go through/ })
        .waitFor();
      await visitor.page.reload();
      await visitor.page
        .getByRole('alert')
        .filter({ hasText: /does not hold enough/ })
        .waitFor();
      await visitor.page.getByRole('button', { name: /Fox Wallet/ }).click();
      await visitor.sees('Payment complete');
      await visitor.leave();
    } finally {
      await hasty.close();
    }
  });

  it('waits while the payment service is unavailable, and continues by itself', async () => {
    const own = await openShop({ worker: false });
    try {
      own.facilitator.supported.always(answers(500));
      const visitor = await own.visitPage((await own.buildSession()).id);
      await visitor.sees('One moment, please');
      own.facilitator.supported.honest();
      await visitor.sees('Pay with your wallet', PROMPT_MS * 2);
      await visitor.leave();
    } finally {
      await own.close();
    }
  });

  it('counts down in the last quarter only, and ends when the session expires', async () => {
    const calm = await shop.visitPage((await shop.buildSession()).id);
    assert.equal(await calm.page.locator('#countdown').isVisible(), false);
    await calm.leave();
    // The id holds the time of creation, which is in the past.
    const id = `${lowestIdAt('cs_test_', Date.now() - 1_800_000)}${randomText(20)}`;
    const visitor = await shop.visitPage(
      await shop.buildSession({ id, expiresAt: new Date(Date.now() + 5000) }),
    );
    await visitor.page.locator('#countdown', { hasText: '0:0' }).waitFor();
    await visitor.sees('This link has expired');
  });

  it('says that it is offline, and continues when it is online', async () => {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id);
    await visitor.page.context().setOffline(true);
    await visitor.page.getByText('You are offline.').waitFor();
    await shop.pay(id);
    await visitor.page.context().setOffline(false);
    await visitor.sees('Payment complete');
    await visitor.page.getByText('You are offline.').waitFor({ state: 'hidden' });
  });

  it('says that the service is unavailable when the buyer is online', async () => {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id);
    await visitor.page.route('**/status', (route) => route.fulfill({ status: 503 }));
    await visitor.page.getByText('We cannot be reached at the moment.').waitFor({ timeout: PROMPT_MS });
    assert.equal(await visitor.page.getByText('You are offline.').count(), 0);
    await visitor.page.unroute('**/status');
    await visitor.page.getByText('We cannot be reached').waitFor({ state: 'hidden', timeout: PROMPT_MS });
    await visitor.page.context().close();
  });

  it('redirects to the merchant after the receipt, unless the buyer stays', async () => {
    const successUrl = 'https://shop.example/thanks?session={id}';
    const { id } = await shop.buildSession({ successUrl });
    const visitor = await shop.visitPage(id, { wallets: [funded()] });
    const visited: string[] = [];
    await visitor.page.route('https://shop.example/**', async (route) => {
      visited.push(route.request().url(), route.request().headers().referer ?? 'no referrer');
      await route.fulfill({ body: 'Thanks' });
    });
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).click();
    await visitor.sees('Payment complete');
    await visitor.page.getByText('You will be taken there in').waitFor();
    await visitor.page.waitForURL('https://shop.example/**');
    assert.deepEqual(visited.slice(1), ['no referrer']);
    await visitor.page.goBack();
    // Going back does not redirect again.
    await visitor.sees('Payment complete');
    assert.equal(await visitor.page.locator('#redirect').isVisible(), false);
    await visitor.leave();
  });

  it('lets the buyer stay on the receipt', async () => {
    const { id } = await shop.buildSession({ successUrl: 'https://shop.example/thanks' });
    const visitor = await shop.visitPage(id);
    await shop.pay(id);
    await visitor.page.getByRole('button', { name: 'Stay here' }).click();
    assert.equal(await visitor.page.locator('#redirect').isVisible(), false);
    await visitor.leave();
  });

  it('waits for the wallet, and is unchanged after a reload', async () => {
    const wallet = funded();
    wallet.next.set('eth_signTypedData_v4', neverEnds);
    const visitor = await shop.visitPage((await shop.buildSession()).id, { wallets: [wallet] });
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).click();
    await visitor.sees('Confirm in Fox Wallet');
    await visitor.page.reload();
    await visitor.sees('Pay with your wallet');
    await visitor.leave();
  });
});
