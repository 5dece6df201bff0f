import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { countTransfer, type Transfer } from '../../lab/world/page/transfer.js';
import type { Visit } from '../../lab/world/page/visit.js';
import { fundedWallet, rejects, solanaWallet } from '../../lab/world/page/wallets.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildPaidSession } from '../../lab/world/shop/factories.js';
import { updateAccount } from '../../shared/accounts/accounts.js';
import { newId } from '../../shared/values/ids.js';
import { forAllTests } from '../support/hooks.js';
import { violations } from '../support/page/accessibility.js';
import { layoutShift, watchLayout } from '../support/page/layout-shift.js';
import { openShop } from '../support/page/shop.js';
import { buildSurplus, buildUncertainPayment } from '../support/uncertain-payment.js';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const MOST_SHIFT = 0.01;
const PAINTED = 'performance.getEntriesByName("first-contentful-paint").length > 0';

/** The words of an element that are broken over more than one line. */
const BROKEN_WORDS = `(selector) => [...document.querySelectorAll(selector)].flatMap((element) => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const broken = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const { 0: word, index } of node.data.matchAll(/\\S+/g)) {
      const range = new Range();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word);
    }
  }
  return broken;
})`;

describe('the layout of the page', () => {
  const shop = forAllTests(openShop);

  const items = (count: number, images: string[] = []) =>
    Array.from({ length: count }, (_, index) => ({
      id: newId('li_'),
      name: `Roast number ${index + 1}`,
      description: 'Whole beans, 250 g',
      images,
      unitAmountCents: 123_456_789,
      quantity: 3,
    }));

  async function assertUnbroken(page: Page): Promise<void> {
    const broken = `(${BROKEN_WORDS})('.wallet-name, .family, h1, .price, .each bdi, .facts strong, .amount')`;
    assert.deepEqual(await page.evaluate(broken), []);
    const overflow = '[document.documentElement, ...document.querySelectorAll("button")]';
    const wide = `${overflow}.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.nodeName)`;
    assert.deepEqual(await page.evaluate(wide), []);
  }

  const VIEWS: Record<string, { visit: Visit; textSize?: string }> = {
    '320 px': { visit: { browser: { viewport: { width: 320, height: 640 } } } },
    '390 px in German': { visit: { browser: { viewport: { width: 390, height: 844 }, locale: 'de' } } },
    '320 px in Vietnamese': { visit: { browser: { viewport: { width: 320, height: 640 }, locale: 'vi' } } },
    '360 px in Arabic': { visit: { browser: { viewport: { width: 360, height: 640 }, locale: 'ar' } } },
    'text of twice the size': { visit: { browser: PHONE }, textSize: '200%' },
  };
  for (const [name, { visit, textSize = '100%' }] of Object.entries(VIEWS)) {
    it(`keeps names of wallets and amounts unbroken at ${name}`, async () => {
      const wallets = [fundedWallet('Coinbase Wallet'), fundedWallet('MetaMask'), solanaWallet('Backpack')];
      // The most that can be paid on Solana; the most that a session can cost has as many digits.
      const amountTotalCents = 1_844_674_407_370_955;
      const session = await shop.buildSession({ lineItems: items(2), amountTotalCents });
      const visitor = await shop.visitPage(session, { ...visit, wallets });
      await visitor.page.locator('.wallet-name').nth(1).waitFor();
      await visitor.page.evaluate(`document.documentElement.style.fontSize = '${textSize}'`);
      await assertUnbroken(visitor.page);
      await visitor.leave();
    });
  }

  it('keeps names of networks unbroken beside what is held there, with text of twice the size', async () => {
    const wallet = fundedWallet();
    wallet.next.set('eth_signTypedData_v4', rejects);
    const browser = { ...PHONE, viewport: { width: 360, height: 640 }, locale: 'hi' };
    const visitor = await shop.visitPage(await shop.buildSession(), { wallets: [wallet], browser });
    const { page } = visitor;
    await visitor.press(/Fox Wallet/);
    await page.locator('#notice > .failed').waitFor();
    await page.locator('#accepts > summary').click();
    await page.locator('.held', { hasText: '25' }).waitFor();
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    assert.deepEqual(await page.evaluate(`(${BROKEN_WORDS})('.entry')`), []);
    await assertUnbroken(page);
    await visitor.leave();
  });

  it('loses nothing when a desktop of 1,280 by 1,024 px is zoomed to 400 %', async () => {
    const { id } = await shop.buildSession({ lineItems: items(4), cancelUrl: 'https://shop.example/cart' });
    const wallets = [fundedWallet('Fox Wallet'), fundedWallet('Rabbit')];
    const visitor = await shop.visitPage(id, { browser: { viewport: { width: 320, height: 256 } }, wallets });
    const { page } = visitor;
    for (const opened of ['What you pay for · 4', 'Pay another way', 'Language: English', 'For AI agents'])
      await page.getByText(opened).click();
    for (const shown of ['Roast number 4', 'Network fee: none', 'Deutsch', 'Back to Cafe Pocket'])
      await page.getByText(shown).scrollIntoViewIfNeeded();
    await assertUnbroken(page);
    await visitor.choose('Base Sepolia · USDC');
    await visitor.press(/Fox Wallet/);
    await visitor.sees('Payment complete');
    await assertUnbroken(page);
    await page.getByRole('button', { name: 'Print or save as PDF' }).click({ trial: true });
    await visitor.leave();
  });

  it('collapses the summary of four items, so that the first screen of a phone shows how to pay', async () => {
    const session = await shop.buildSession({
      lineItems: items(4),
      cancelUrl: 'https://shop.example/cart',
    });
    const visitor = await shop.visitPage(session, { browser: PHONE, wallets: [fundedWallet('Fox Wallet')] });
    const pay = await visitor.page.getByRole('button', { name: /Fox Wallet/ }).boundingBox();
    assert.ok(pay !== null && pay.y + pay.height <= PHONE.viewport.height, JSON.stringify(pay));
    assert.equal(await visitor.page.locator('.items li:visible').count(), 0);
    await visitor.page.getByText('What you pay for · 4').click();
    assert.equal(await visitor.page.locator('.items li:visible').count(), 4);
    await visitor.leave();
  });

  it('prints every item and full addresses, even in browsers that do not open <details> for printing', async () => {
    const { session, payment } = await buildPaidSession(shop.app.db, shop.merchant.accountId);
    await session.$query(shop.app.db).patch({ lineItems: items(9) });
    for (const browser of [PHONE, {}]) {
      const visitor = await shop.visitPage(session, { browser });
      const { page } = visitor;
      assert.ok((await page.locator('.items li:visible').count()) < 9);
      await page.emulateMedia({ media: 'print' });
      assert.equal(await page.locator('.items li:visible').count(), 9);
      assert.equal(await page.locator('details .items').count(), 0);
      const printed = (await page.evaluate(
        '[...document.querySelectorAll(".receipt code[title]")].map((one) => getComputedStyle(one, "::after").content)',
      )) as string[];
      assert.deepEqual(printed, [`"${payment.transaction}"`, `"${payment.payer}"`]);
      assert.equal(await page.locator('.receipt a:visible').count(), 1);
      await visitor.leave();
    }
  });

  it('prints a second payment and a warning in dark ink, also where the screen is dark', async () => {
    const ids = [(await buildSurplus(shop)).session.id, (await buildUncertainPayment(shop)).session.id];
    for (const id of ids) {
      const visitor = await shop.visitPage(id, { browser: { colorScheme: 'dark' } });
      await visitor.page.emulateMedia({ media: 'print' });
      assert.deepEqual(await violations(visitor.page), []);
      await visitor.leave();
    }
  });

  it('shows nothing for a logo or an image that fails to load', async () => {
    await updateAccount(shop.app.db, shop.merchant.accountId, {
      logoUrl: 'https://gone.invalid/logo.png',
    });
    const session = await shop.buildSession({ lineItems: items(2, ['https://gone.invalid/a.png']) });
    const visitor = await shop.visitPage(session);
    const grounds = (await visitor.page.evaluate(
      '[...document.querySelectorAll(".summary img")].map((image) => getComputedStyle(image).backgroundColor)',
    )) as string[];
    assert.deepEqual(grounds, Array(3).fill('rgba(0, 0, 0, 0)'));
    await updateAccount(shop.app.db, shop.merchant.accountId, { logoUrl: null });
    await visitor.leave();
  });

  /** The document is painted before its script arrives, as on a slow connection: its last bytes hold it. */
  async function delayScript(page: Page): Promise<void> {
    let script = '';
    await page.route('**/c/*', async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/<script>(.*)<\/script>/s, (_element, text: string) => {
        script = text;
        return '<script src="/script.js"></script>';
      });
      const headers = response.headers();
      const policy = headers['content-security-policy']?.replace('script-src ', "script-src 'self' ") ?? '';
      await route.fulfill({ response, body, headers: { ...headers, 'content-security-policy': policy } });
    });
    await page.route('**/script.js', async (route) => {
      await eventually(async () => assert.equal(await page.evaluate(PAINTED), true));
      await route.fulfill({ contentType: 'text/javascript', body: script });
    });
  }

  const ARRIVALS: Record<string, () => Visit> = {
    'two wallets': () => ({ wallets: [fundedWallet('Fox Wallet'), solanaWallet()] }),
    'one wallet': () => ({ wallets: [fundedWallet('Fox Wallet')] }),
    'no wallet': () => ({}),
  };
  for (const [name, visit] of Object.entries(ARRIVALS)) {
    for (const browser of [PHONE, { viewport: { width: 1440, height: 900 } }]) {
      it(`does not shift when the script loads, with ${name} at ${browser.viewport.width} px`, async () => {
        const visitor = await shop.visitPage(await shop.buildSession({ lineItems: items(4) }), {
          ...visit(),
          browser,
          prepare: async (page) => {
            await watchLayout(page);
            await delayScript(page);
          },
        });
        await visitor.page.locator('#wallets > *').first().waitFor({ state: 'attached' });
        const shift = await layoutShift(visitor.page);
        assert.ok(shift < MOST_SHIFT, `${shift}: ${await visitor.page.evaluate('window.layoutShifts')}`);
        await visitor.leave();
      });
    }
  }

  it('takes one request and 26 KB before a wallet is clicked', async () => {
    const counted: Transfer[] = [];
    const visitor = await shop.visitPage(await shop.buildSession({ lineItems: items(100) }), {
      wallets: [fundedWallet('Fox Wallet'), solanaWallet()],
      browser: { locale: 'ar' },
      prepare: async (page) => {
        counted.push(await countTransfer(page));
      },
    });
    await visitor.page.locator('#wallets button').first().waitFor();
    const [{ requests, bytes } = { requests: 0, bytes: 0 }] = counted;
    assert.equal(requests, 1);
    assert.ok(bytes > 10_000 && bytes <= 26 * 1024, `${bytes} bytes`);
    await visitor.leave();
  });

  it('changes its language on request, and keeps it in the URL', async () => {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id);
    await visitor.page.getByText('Language: English').click();
    await visitor.page.getByRole('link', { name: 'Deutsch' }).click();
    await visitor.sees('Mit Ihrer Wallet bezahlen');
    assert.equal(new URL(visitor.page.url()).search, '?lang=de');
    const [app] = await visitor.page.locator('.apps a').all();
    assert.equal(
      await app?.getAttribute('href'),
      `https://link.metamask.io/dapp/pay.example/c/${id}?lang=de`,
    );
    await visitor.page.reload();
    assert.equal(await visitor.page.locator('html').getAttribute('lang'), 'de');
    await shop.pay(id);
    await visitor.sees('Zahlung abgeschlossen');
    assert.deepEqual(await visitor.page.context().cookies(), []);
    await visitor.leave();
  });
});
