import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Visit } from '../../lab/world/page/visit.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import {
  buildMerchant,
  buildPaidSession,
  buildSession,
  buildUndecidedPayment,
} from '../../lab/world/shop/factories.js';
import { Payable } from '../../shared/payables/model.js';
import { BASE_SEPOLIA } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { openFakeBalances } from '../support/page/fake-balances.js';
import { layoutShift, watchLayout } from '../support/page/layout-shift.js';
import { openShop } from '../support/page/shop.js';
import { evmWalletLike } from '../support/page/wallet-kinds.js';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const DESKTOP = { viewport: { width: 1440, height: 900 } };
const MOST_SHIFT = 0.01;
const TESTNETS = [
  BASE_SEPOLIA,
  ...['80002', '421614', '43113', '1952', '1328', '11155420', '11155111'].map((id) => `eip155:${id}`),
];

describe('the first glance of the page', () => {
  const balances = forAllTests(() => openFakeBalances(TESTNETS));
  const shop = forAllTests(() => openShop({ environment: balances.environment }));

  /** A buyer whose wallet is remembered; its balances arrive after the first paint. */
  async function returns(dollars: number, visit: Visit) {
    const wallet = evmWalletLike('MetaMask', 84532);
    wallet.connected = true;
    if (dollars > 0) balances.hold(wallet.address, BASE_SEPOLIA, 'USDC', dollars);
    const others = [evmWalletLike('Rabby', 84532), evmWalletLike('Coinbase Wallet', 84532)];
    return await shop.visitPage(await shop.buildSession(), {
      ...visit,
      wallets: [...others, wallet],
      prepare: async (page) => {
        await watchLayout(page);
        await page.addInitScript("localStorage.setItem('checkout-wallet', 'evm:io.metamask')");
        await page.route('**/balances?*', async (route) => {
          await page.locator('.primary').waitFor({ state: 'attached' });
          await page.evaluate(
            'window.before ??= document.querySelector(".primary").getBoundingClientRect().top',
          );
          await route.continue();
        });
      },
    });
  }
  const assertStill = async (page: Page): Promise<void> => {
    const shift = await layoutShift(page);
    assert.ok(shift < MOST_SHIFT, `${shift}: ${await page.evaluate('window.layoutShifts')}`);
    assert.equal(
      await page.evaluate('window.before === document.querySelector(".primary").getBoundingClientRect().top'),
      true,
    );
  };

  it('does not move the button of a phone when the balances of a returning buyer arrive', async () => {
    const visitor = await returns(25, { browser: PHONE });
    await visitor.page.getByText('USDC on Base Sepolia', { exact: true }).waitFor();
    await visitor.page.getByRole('button', { name: 'Pay 4.50 USDC with MetaMask' }).waitFor();
    await assertStill(visitor.page);
    await visitor.leave();
  });

  it('says that enough is nowhere, and where most is, without moving the button of a desktop', async () => {
    const visitor = await returns(2, { browser: DESKTOP });
    const sentence = 'enough on none of the 8 networks; the most is 2.00 USDC on Base Sepolia';
    await visitor.page.locator('#accepted').filter({ hasText: sentence }).waitFor();
    await assertStill(visitor.page);
    await visitor.press(/^Pay .* with MetaMask/);
    await visitor.alerts(/none of the 8 networks.*Nothing was taken.*Add money/);
    await visitor.leave();
  });

  it('offers the apps of wallets first on a phone without one, above the fold, with documented links', async () => {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id, { browser: PHONE });
    await visitor.page.locator('#ways[open]').waitFor();
    const links = await visitor.page.locator('.apps a').all();
    const url = encodeURIComponent(`https://pay.example/c/${id}`);
    assert.deepEqual(await Promise.all(links.map((link) => link.getAttribute('href'))), [
      `https://link.metamask.io/dapp/pay.example/c/${id}`,
      `https://phantom.app/ul/browse/${url}?ref=https%3A%2F%2Fpay.example`,
      `https://go.cb-w.com/dapp?cb_url=${url}`,
      `https://link.trustwallet.com/open_url?coin_id=60&url=${url}`,
      `https://web3.okx.com/download?deeplink=${encodeURIComponent(`okx://wallet/dapp/url?dappUrl=${url}`)}`,
      `https://rnbwapp.com/dapp?url=${url}`,
      `https://bkcode.vip?action=dapp&url=${url}`,
    ]);
    const last = await links.at(-1)?.boundingBox();
    assert.ok(last && last.y + last.height <= PHONE.viewport.height, JSON.stringify(last));
    for (const text of ['Binance Wallet', 'WalletConnect only, such as Ledger Wallet and Safe'])
      await visitor.page.getByText(text).waitFor();
    await visitor.leave();
  });

  it('shows a desktop a QR code for each wallet, asked for when it is opened', async () => {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(`${id}?lang=de`, { browser: DESKTOP });
    await visitor.page.locator('#ways[open]').waitFor();
    const phantom = visitor.page.locator('.codes details').filter({ hasText: 'Phantom' });
    await phantom.locator('summary').click();
    await phantom.getByRole('img').waitFor();
    const isDrawn = 'document.querySelector(".codes [open] img").naturalWidth > 0';
    await eventually(async () => assert.equal(await visitor.page.evaluate(isDrawn), true));
    await visitor.leave();
    for (const name of ['qr', 'qr-phantom']) {
      const asked = await fetch(`${shop.pageUrl(id)}/images/${name}`);
      assert.deepEqual([asked.status, asked.headers.get('content-type')], [200, 'image/svg+xml']);
    }
    assert.equal((await fetch(`${shop.pageUrl(id)}/images/qr-nothing`)).status, 404);
  });

  it('tells a chat the merchant, the amount and the tokens, and nothing of the buyer', async () => {
    const { accountId } = await buildMerchant(shop.app.db, {
      name: 'Limonade & Söhne',
      brandColor: '#ffe600',
    });
    const { id } = await buildSession(shop.app.db, accountId, {
      livemode: true,
      customerEmail: 'buyer@example.com',
    });
    const { text } = await shop.visit(id, { Accept: 'text/html' });
    assert.ok(
      text.includes('<meta property="og:title" content="Pay Limonade &amp; Söhne">'),
      text.slice(0, 1500),
    );
    assert.ok(text.includes('<meta property="og:description" content="$4.50 · Pay with USDC'));
    assert.ok(text.includes('<link rel="icon" href="data:image/svg+xml,'));
    assert.ok(!text.includes('buyer@example.com'));
  });

  it('lets the buyer mail and print the receipt, with its time zone, where the browser cannot share', async () => {
    const { session } = await buildPaidSession(shop.app.db, shop.merchant.accountId);
    const visitor = await shop.visitPage(session, {
      browser: { timezoneId: 'Asia/Tokyo' },
      prepare: async (page) => void (await page.addInitScript('delete Navigator.prototype.share')),
    });
    const mail =
      (await visitor.page.getByRole('link', { name: 'Send by e-mail' }).getAttribute('href')) ?? '';
    const { searchParams } = new URL(mail);
    assert.equal(searchParams.get('subject')?.replace('\u00a0', ' '), 'Receipt: 4.50 USDC to Cafe Pocket');
    assert.ok(searchParams.get('body')?.includes(`https://pay.example/c/${session.id}`));
    await visitor.page.getByRole('button', { name: 'Print or save as PDF' }).waitFor();
    assert.equal(await visitor.page.locator('#share').isVisible(), false);
    assert.match((await visitor.page.locator('.receipt time').textContent()) ?? '', /GMT\+9$/);
    await visitor.leave();
  });

  it('hands the receipt to the share sheet where the browser has one, and is silent when it is closed', async () => {
    const { session } = await buildPaidSession(shop.app.db, shop.merchant.accountId);
    const visitor = await shop.visitPage(session, {
      prepare: async (page) => {
        await page.addInitScript(`window.shared = [];
          navigator.share = async (what) => { shared.push(what); throw new DOMException('closed', 'AbortError') }`);
      },
    });
    await visitor.page.getByRole('button', { name: 'Share' }).click();
    const shared = await visitor.page.evaluate('shared');
    assert.deepEqual(shared, [{ title: await visitor.page.title(), url: visitor.page.url() }]);
    await visitor.leave();
  });

  it('calls a payment its own only while the wallet that it paid with holds the session, and forgets it then', async () => {
    const { session, payment } = await buildUndecidedPayment(shop.app.db, shop.merchant.accountId);
    const key = `checkout-mine-${session.id}`;
    assert.ok(payment.payer !== null);
    const visitor = await shop.visitPage(session);
    for (const [payer, shown, hidden] of [
      ['0x0000000000000000000000000000000000000001', 'A payment for this order', 'Your payment'],
      [payment.payer, 'Your payment', 'A payment for this order'],
    ] as const) {
      await visitor.page.evaluate(`sessionStorage.setItem('${key}', '${payer}')`);
      await visitor.page.reload();
      await visitor.page.getByText(`${shown} is on its way.`).waitFor();
      assert.equal(await visitor.page.getByText(`${hidden} is on its way.`).isVisible(), false);
    }
    await Payable.query(shop.app.db).patch({ status: 'open', paymentId: null }).where({ id: session.id });
    await visitor.sees('Pay with your wallet');
    await visitor.page.evaluate(`sessionStorage.setItem('${key}', '${payment.payer}')`);
    await visitor.page.reload();
    await visitor.page.locator('#wallets > *').first().waitFor({ state: 'attached' });
    assert.equal(await visitor.page.evaluate(`sessionStorage.getItem('${key}')`), null);
    await visitor.leave();
  });
});
