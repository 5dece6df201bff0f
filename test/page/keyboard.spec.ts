import assert from 'node:assert/strict';
import { fundedWallet, neverEnds, rejects } from '../../lab/world/page/wallets.js';
import { forAllTests } from '../support/hooks.js';
import { openShop } from '../support/page/shop.js';

describe('accessibility of the page', () => {
  const shop = forAllTests(openShop);

  it('lets the buyer choose token and network, and pay, with the keyboard alone', async () => {
    const wallet = fundedWallet();
    wallet.next.set('eth_signTypedData_v4', rejects);
    const visitor = await shop.visitPage(await shop.buildSession(), { wallets: [wallet] });
    const { page } = visitor;
    const focused = (): Promise<string> => page.evaluate('document.activeElement.textContent.trim()');
    const group = page.getByRole('group', { name: 'Token and network' });
    const line = page.locator('#accepts > summary');
    await page.getByRole('button', { name: 'Pay $4.50 with Fox Wallet' }).waitFor();
    await page.keyboard.press('Tab');
    const offer = /^USDC, USDT or USDG · Base Sepolia, Solana Devnet, Polygon Amoy and \d more$/;
    assert.match(await focused(), offer);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await group.getByRole('radio', { name: 'Base Sepolia · USDC', checked: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await group.getByRole('radio', { name: 'Solana Devnet · USDC', checked: true }).waitFor();
    assert.equal(await line.textContent(), 'USDC on Solana Devnet');
    await page.keyboard.press('ArrowUp');
    await page.getByRole('button', { name: 'Pay 4.50 USDC with Fox Wallet' }).waitFor();
    // The line shows the chosen row when the list is collapsed.
    await line.press('Enter');
    assert.equal(await group.isVisible(), false);
    assert.equal(await line.textContent(), 'USDC on Base Sepolia');
    await page.keyboard.press('Tab');
    assert.match(await focused(), /^Pay 4\.50.USDC with Fox Wallet$/);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'You declined' }).waitFor();
    // The Tab key moves from the heading, which has the focus after an attempt, to the button.
    for (let presses = 0; !/Fox Wallet$/.test(await focused()) && presses < 5; presses += 1) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Space');
    await visitor.sees('Payment complete');
    await visitor.leave();
  });

  it('announces each change once, in an existing live region', async () => {
    const wallet = fundedWallet();
    wallet.next.set('eth_signTypedData_v4', neverEnds);
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id, { wallets: [wallet] });
    const live = visitor.page.getByRole('status').first();
    await visitor.page.evaluate('window.region = document.querySelector("#live")');
    await visitor.press(/Fox Wallet/);
    await visitor.sees('Confirm in Fox Wallet');
    assert.match((await live.textContent()) ?? '', /^Confirm in Fox Wallet\. Sign to pay 4\.50.USDC/);
    await shop.pay(id);
    await visitor.sees('Payment complete');
    assert.match((await live.textContent()) ?? '', /^Payment complete\. Cafe Pocket has received/);
    assert.equal(await visitor.page.evaluate('window.region === document.querySelector("#live")'), true);
    assert.equal(await visitor.page.evaluate('document.activeElement.id'), 'state');
    await visitor.leave();
  });

  it('respects reduced motion', async () => {
    const { id } = await shop.buildSession({ status: 'processing' });
    const visitor = await shop.visitPage(id);
    const animation = 'getComputedStyle(document.querySelector(".working")).animationName';
    for (const [reducedMotion, name] of [
      ['reduce', 'none'],
      ['no-preference', 'turn'],
    ] as const) {
      await visitor.page.emulateMedia({ reducedMotion });
      assert.equal(await visitor.page.evaluate(animation), name);
    }
    await visitor.leave();
  });

  it('can be read without its script', async () => {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id, { browser: { javaScriptEnabled: false } });
    const text = await visitor.page.locator('body').textContent();
    for (const words of [
      'Pay Cafe Pocket',
      '$4.50',
      'Coffee',
      'Network fee: none',
      'USDC, USDT or USDG',
      'turn on JavaScript',
    ]) {
      assert.ok(text?.includes(words), words);
    }
    await visitor.page.getByText('For AI agents').click();
    await visitor.page.getByText(`curl https://pay.example/c/${id}`).waitFor();
    await visitor.page.getByText('Pay another way').click();
    await visitor.page.getByRole('img', { name: /QR code/ }).waitFor();
    assert.equal(await visitor.page.getByRole('button').count(), 0);
    assert.equal(await visitor.page.getByText('This page follows by itself').isVisible(), false);
    await visitor.leave();
  });
});
