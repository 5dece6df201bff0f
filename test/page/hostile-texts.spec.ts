import assert from 'node:assert/strict';
import type { Visitor } from '../../lab/world/page/visit.js';
import { evmWallet, fundedWallet, type TestWallet } from '../../lab/world/page/wallets.js';
import { updateAccount } from '../../shared/accounts/accounts.js';
import { newId } from '../../shared/values/ids.js';
import { forAllTests } from '../support/hooks.js';
import { openShop } from '../support/page/shop.js';

const ATTACKS = [
  '<script>window.hacked = 1</script>',
  '"><img src=x onerror="window.hacked = 1">',
  "' onmouseover='window.hacked = 1",
  '</main><h1>Free</h1>',
  '{merchant} {amount} $& &amp;',
  'javascript:window.hacked=1',
];

/** Names of merchants and wallets are text, whatever their length and content. */
describe('the page and untrusted strings', () => {
  const shop = forAllTests(openShop);

  async function assertHarmless(visitor: Visitor): Promise<void> {
    assert.equal(await visitor.page.evaluate('window.hacked'), undefined);
    assert.equal(await visitor.page.locator('h1').count(), 1);
    const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    assert.equal(await visitor.page.evaluate(overflow), false);
    await visitor.leave();
  }

  it('shows names and descriptions of a merchant as text', async () => {
    const name = ATTACKS.join(' ');
    await updateAccount(shop.app.db, shop.merchant.accountId, {
      name,
      supportEmail: `${name.replaceAll(/[^a-z]/gi, '')}@example.com`,
    });
    const session = await shop.buildSession({
      lineItems: ATTACKS.map((attack) => ({
        id: newId('li_'),
        name: attack,
        description: attack,
        images: [],
        unitAmountCents: 75,
        quantity: 1,
      })),
      successUrl: 'https://shop.example/?q="><script>window.hacked=1</script>',
      cancelUrl: "https://shop.example/?q='><script>window.hacked=1</script>",
    });
    const visitor = await shop.visitPage(session);
    assert.deepEqual(await visitor.page.locator('.items .name').allTextContents(), ATTACKS);
    assert.deepEqual(await visitor.page.locator('.items .description').allTextContents(), ATTACKS);
    assert.equal(await visitor.page.locator('.merchant bdi').textContent(), name);
    assert.equal(await visitor.page.title(), `Pay ${name}`);
    await shop.pay(session.id);
    await visitor.sees('Payment complete');
    assert.equal(await visitor.page.locator('.receipt bdi').textContent(), name);
    await assertHarmless(visitor);
  });

  it('shows the name of a wallet as text, and its icon as an image or not at all', async () => {
    const identities: TestWallet['identity'][] = [
      { name: ATTACKS[0] ?? '', icon: '"><script>window.hacked=1</script>', rdns: 'a' },
      { name: ATTACKS[1] ?? '', icon: 'https://tracker.example/pixel.png', rdns: 'b' },
      {
        name: `Evil\u202e tellaW${'!'.repeat(500)}`,
        icon: 'data:text/html,<script>window.hacked=1</script>',
        rdns: 'c',
      },
      { name: '', icon: 'javascript:window.hacked=1', rdns: 'd' },
      {
        name: 'Scripted',
        icon: `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked=1"><script>window.hacked=1</script></svg>')}`,
        rdns: 'e',
      },
      { name: 'Huge', icon: `data:image/png;base64,${'A'.repeat(300_000)}`, rdns: 'f' },
    ];
    const wallets = identities.map((identity, index) => ({ ...evmWallet(`w${index}`), identity }));
    const visitor = await shop.visitPage(await shop.buildSession(), { wallets });
    // The first wallet has the primary button.
    const names = visitor.page.locator('.primary bdi, .wallet-name');
    await names.nth(5).waitFor();
    const shown = await names.allTextContents();
    assert.deepEqual([shown[0], shown[3], shown[4]], ['<script>window.hacked = 1</scri…', '?', 'Scripted']);
    assert.match(shown[2] ?? '', /^Evil tellaW!+…$/);
    assert.ok(shown.every((name) => name.length <= 32));
    const icons = '[...document.querySelectorAll("#wallets img")].map(({ src }) => src.slice(0, 19))';
    assert.deepEqual(await visitor.page.evaluate(icons), ['data:image/svg+xml,']);
    await assertHarmless(visitor);
  });

  it('works with other wallets when one throws, lies or announces itself a thousand times', async () => {
    const visitor = await shop.visitPage(await shop.buildSession(), {
      wallets: [fundedWallet()],
      prepare: async (page) => {
        await page.addInitScript(`
          const announce = (detail) => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
          window.addEventListener('eip6963:requestProvider', () => {
            announce(null);
            announce({ info: { get name() { throw new Error('no'); } }, provider: { request() {} } });
            announce({ info: { name: 'No provider' } });
            for (let i = 0; i < 1000; i += 1) announce({ info: { name: 'Again', rdns: 'again' }, provider: { request() {} } });
          });
          window.addEventListener('wallet-standard:app-ready', ({ detail }) => {
            detail.register(null, { features: {} }, { get features() { throw new Error('no'); } });
          });`);
      },
    });
    const ours = visitor.page.getByRole('button', { name: /Fox Wallet/ });
    assert.equal(await visitor.page.getByRole('button', { name: /Again/ }).count(), 1);
    assert.equal(await visitor.page.getByRole('button', { name: /No provider/ }).count(), 0);
    await ours.click();
    await visitor.sees('Payment complete');
    await visitor.leave();
  });

  it('fits a hundred items with names of 250 characters on a phone', async () => {
    const lineItems = Array.from({ length: 100 }, (_, index) => ({
      id: newId('li_'),
      name: index % 2 === 0 ? 'W'.repeat(250) : '長い名前'.repeat(62),
      description: 'd'.repeat(500),
      images: [],
      unitAmountCents: 99_999_999,
      quantity: 999_999,
    }));
    const name = 'Ñandú'.repeat(20);
    await updateAccount(shop.app.db, shop.merchant.accountId, { name });
    const session = await shop.buildSession({ lineItems, amountTotalCents: 9_007_199_254_740_991 });
    const visitor = await shop.visitPage(session, {
      browser: { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true },
    });
    await visitor.page.getByText('What you pay for · 100').click();
    await visitor.page.getByText('Show 96 more').click();
    assert.equal(await visitor.page.locator('.items li:visible').count(), 100);
    await visitor.page.getByRole('link', { name: 'MetaMask' }).waitFor();
    await assertHarmless(visitor);
  });
});
