import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { BASE_SEPOLIA, SOLANA_DEVNET } from '../support/checkout.js';
import { openPurse, type Purse } from '../support/page/purse.js';
import { openShop, type Shop, type Visitor } from '../support/page/shop.js';
import { evmWalletLike, solanaWalletLike } from '../support/page/wallet-kinds.js';
import { type EvmWallet, neverEnds, type TestWallet } from '../support/page/wallets.js';

const AMOY = 'eip155:80002';

/** Every wallet here sits on Base Sepolia and holds 25 dollars there, or on Solana Devnet. */
describe('while a wallet is asked, the page', function () {
  this.timeout(120_000);
  let purse: Purse;
  let shop: Shop;
  before(async () => {
    purse = await openPurse([BASE_SEPOLIA, AMOY, SOLANA_DEVNET]);
    shop = await openShop({ environment: purse.environment });
  });
  after(async () => {
    await shop.close();
    await purse.close();
  });

  function metaMask(name: 'MetaMask' | 'Coinbase Wallet' = 'MetaMask'): EvmWallet {
    const wallet = evmWalletLike(name, 84532);
    purse.hold(wallet.address, BASE_SEPOLIA, 'USDC', 25);
    return wallet;
  }
  function phantom() {
    const wallet = solanaWalletLike('Phantom');
    purse.hold(wallet.address, SOLANA_DEVNET, 'USDC', 25);
    return wallet;
  }

  async function press(wallet: TestWallet, prepare?: (page: Page) => Promise<void>) {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id, { wallets: [wallet], ...(prepare && { prepare }) });
    await visitor.page.getByRole('button', { name: new RegExp(wallet.looks.name) }).click();
    await visitor.sees(`Confirm in ${wallet.looks.name}`);
    return { visitor, id };
  }
  const panelOf = async ({ page }: Visitor): Promise<string> =>
    ((await page.locator('.signing').textContent()) ?? '').replaceAll('\u00a0', ' ');
  const payToOf = async (id: string, network: string): Promise<string> =>
    (await shop.quote(id)).accepts.find((entry) => entry.network === network)?.payTo ?? '';
  const told = (visitor: Visitor, words: RegExp): Promise<void> =>
    visitor.page.getByRole('alert').filter({ hasText: words }).waitFor();

  it('shows what an EVM wallet shows, and how to copy the receiver', async () => {
    const wallet = metaMask();
    wallet.next.set('eth_signTypedData_v4', neverEnds);
    const { visitor, id } = await press(wallet);
    await visitor.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const [payTo, panel] = [await payToOf(id, BASE_SEPOLIA), await panelOf(visitor)];
    for (const part of [
      wallet.address,
      payTo,
      '4.50 USDC',
      'Base Sepolia',
      'TransferWithAuthorization',
      '4500000',
    ]) {
      assert.ok(panel.includes(part), `${part} in ${panel}`);
    }
    assert.ok(!panel.includes(await payToOf(id, SOLANA_DEVNET)));
    await visitor.page.getByRole('button', { name: 'Copy address' }).click();
    await visitor.page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.equal(await visitor.page.evaluate('navigator.clipboard.readText()'), payTo);
    await visitor.leave();
  });

  it('shows the buyer who has Solana alone no EVM address, from first to last', async () => {
    const wallet = phantom();
    wallet.next.set('signTransaction', neverEnds);
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id, { wallets: [wallet] });
    const seen = async (): Promise<string> => (await visitor.page.locator('body').textContent()) ?? '';
    const [evm, solana] = [await payToOf(id, BASE_SEPOLIA), await payToOf(id, SOLANA_DEVNET)];
    await visitor.page.getByRole('button', { name: /Phantom/ }).waitFor();
    const before = await seen();
    assert.ok(!before.includes(evm.slice(0, 6)) && before.includes(solana.slice(0, 6)), before);
    await visitor.choose('Base Sepolia · USDC');
    assert.ok(!(await seen()).includes(evm.slice(0, 6)));
    await visitor.choose('Solana Devnet · USDC');
    await visitor.page.getByRole('button', { name: /Phantom/ }).click();
    await visitor.sees('Confirm in Phantom');
    const panel = await panelOf(visitor);
    for (const part of [
      wallet.address,
      solana,
      '4.50 USDC',
      'Solana Devnet',
      'A transfer of 4.50 USDC: 4500000',
    ]) {
      assert.ok(panel.includes(part), `${part} in ${panel}`);
    }
    assert.doesNotMatch(await seen(), /0x[0-9a-f]{40}/i);
    await visitor.leave();
  });

  it('says after 15 s where to look for the wallet’s window', async () => {
    const wallet = metaMask();
    wallet.next.set('eth_signTypedData_v4', neverEnds);
    const { visitor } = await press(wallet, async (page) => void (await page.clock.install()));
    const hint = visitor.page.getByText(/^No window of your wallet\?/).and(visitor.page.locator('.state p'));
    await visitor.page.clock.fastForward(10_000);
    assert.equal(await hint.isVisible(), false);
    await visitor.page.clock.fastForward(6000);
    await hint.waitFor();
    assert.match((await visitor.page.locator('#live').textContent()) ?? '', /No window of your wallet/);
    await visitor.leave();
  });

  for (const [what, wallet, method, change] of [
    [
      'an EVM wallet',
      metaMask,
      'eth_signTypedData_v4',
      async (asked: TestWallet) => {
        const next = privateKeyToAccount(generatePrivateKey());
        purse.hold(next.address, AMOY, 'USDC', 70);
        (asked as EvmWallet).use(next);
        await asked.tell('accountsChanged', [next.address]);
      },
    ],
    [
      'a Solana wallet',
      phantom,
      'signTransaction',
      async (asked: TestWallet) => {
        const next = solanaWalletLike('Solflare').address;
        purse.hold(next, SOLANA_DEVNET, 'USDG', 70);
        await asked.tell('change', [next]);
      },
    ],
  ] as const) {
    it(`drops what the account before was asked when ${what} changes to another`, async () => {
      const asked = wallet();
      let sign = (): void => {};
      const honest = asked.answer;
      const signed = new Promise<void>((resolve) => {
        sign = resolve;
      });
      asked.answer = async (name, params) => {
        if (name === method) await signed;
        return await honest(name, params);
      };
      const { visitor, id } = await press(asked);
      await change(asked);
      await told(visitor, /has changed.*Nothing was taken/);
      // It signs for the account before after all.
      sign();
      await visitor.page.getByRole('radio', { name: /you have 70\.00/ }).waitFor();
      assert.equal(await visitor.page.getByText('you have 25.00').count(), 0);
      assert.deepEqual(await shop.state(id), { session: 'open', payments: [], events: [] });
      await visitor.leave();
    });
  }

  it('lets the buyer use another account, and signs for that one', async () => {
    const wallet = metaMask();
    wallet.next.set('eth_signTypedData_v4', neverEnds);
    const next = privateKeyToAccount(generatePrivateKey());
    purse.hold(next.address, BASE_SEPOLIA, 'USDC', 70);
    const { visitor, id } = await press(wallet);
    wallet.next.set('wallet_requestPermissions', async () => wallet.use(next));
    await visitor.page.getByRole('button', { name: 'Use another account' }).click();
    await visitor.sees('Payment complete');
    assert.equal((await shop.payment(id)).payer, next.address);
    await visitor.leave();
  });

  it('says where the account is changed when the wallet cannot be asked', async () => {
    const wallet = metaMask('Coinbase Wallet');
    wallet.next.set('eth_signTypedData_v4', neverEnds);
    const { visitor } = await press(wallet);
    await visitor.page.getByRole('button', { name: 'Use another account' }).click();
    await told(visitor, /Choose the account in Coinbase Wallet itself/);
    await visitor.leave();
  });

  it('forgets what an account held that is no longer connected, and follows the network', async () => {
    const wallet = metaMask();
    purse.hold(wallet.address, AMOY, 'USDC', 25);
    wallet.next.set('eth_signTypedData_v4', () => Promise.reject(new Error('User rejected')));
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id, { wallets: [wallet] });
    const button = (name: string) => visitor.page.getByRole('button', { name });
    await button('Pay $4.50 with MetaMask').click();
    await button('Pay 4.50 USDC on Base Sepolia with MetaMask').waitFor();
    wallet.chainId = 80002;
    await wallet.tell('chainChanged', '0x13882');
    await button('Pay 4.50 USDC on Polygon Amoy with MetaMask').waitFor();
    // Said while it changes its network, and not so.
    await wallet.tell('disconnect', { code: 1013 });
    await wallet.tell('accountsChanged', []);
    await button('Pay $4.50 with MetaMask').waitFor();
    assert.equal(await visitor.page.getByText('you have').count(), 0);
    await visitor.leave();
  });

  it('follows the payment on the phone that scanned its code', async () => {
    const { id } = await shop.buildSession();
    const desk = await shop.visitPage(id);
    await desk.page.getByRole('img', { name: /QR code/ }).waitFor();
    await desk.page.getByText(/This page follows by itself/).waitFor();
    await desk.page.getByText(/First withdraw it to a wallet of your own/).waitFor();
    const wallet = metaMask();
    const phone = await shop.visitPage(id, {
      wallets: [wallet],
      browser: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    });
    await phone.page.getByRole('button', { name: /MetaMask/ }).click();
    await Promise.all([phone.sees('Payment complete'), desk.sees('Payment complete')]);
    await phone.leave();
    await desk.leave();
  });
});
