import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Visitor } from '../../lab/world/page/visit.js';
import {
  type EvmWallet,
  holdAnswers,
  neverEnds,
  rejects,
  type TestWallet,
} from '../../lab/world/page/wallets.js';
import { BASE_SEPOLIA, SOLANA_DEVNET } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { openFakeBalances } from '../support/page/fake-balances.js';
import { openShop } from '../support/page/shop.js';
import { evmWalletLike, solanaWalletLike } from '../support/page/wallet-kinds.js';

const AMOY = 'eip155:80002';

/** Every wallet here is on Base Sepolia with 25 dollars, or on Solana Devnet. */
describe('the page, while a wallet signs,', () => {
  const balances = forAllTests(() => openFakeBalances([BASE_SEPOLIA, AMOY, SOLANA_DEVNET]));
  const shop = forAllTests(() => openShop({ environment: balances.environment }));

  function metaMask(name: 'MetaMask' | 'Coinbase Wallet' = 'MetaMask'): EvmWallet {
    const wallet = evmWalletLike(name, 84532);
    balances.hold(wallet.address, BASE_SEPOLIA, 'USDC', 25);
    return wallet;
  }
  function phantom() {
    const wallet = solanaWalletLike('Phantom');
    balances.hold(wallet.address, SOLANA_DEVNET, 'USDC', 25);
    return wallet;
  }

  async function press(wallet: TestWallet, prepare?: (page: Page) => Promise<void>) {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id, { wallets: [wallet], ...(prepare && { prepare }) });
    await visitor.press(new RegExp(wallet.identity.name));
    await visitor.sees(`Confirm in ${wallet.identity.name}`);
    return { visitor, id };
  }
  const panelOf = async ({ page }: Visitor): Promise<string> =>
    ((await page.locator('.signing').textContent()) ?? '').replaceAll('\u00a0', ' ');
  const payToOf = async (id: string, network: string): Promise<string> =>
    (await shop.quote(id)).accepts.find((entry) => entry.network === network)?.payTo ?? '';

  it('shows what an EVM wallet shows, and nothing that invites to send there by hand', async () => {
    const wallet = metaMask();
    wallet.next.set('eth_signTypedData_v4', neverEnds);
    const { visitor, id } = await press(wallet);
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
    assert.equal(await visitor.page.getByRole('button', { name: /copy/i }).count(), 0);
    // A reload leaves the window of the wallet behind, and the page as it was before.
    await visitor.page.reload();
    await visitor.sees('Pay with your wallet');
    await visitor.leave();
  });

  it('shows no EVM address to a buyer with Solana wallets only', async () => {
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
    await visitor.press(/Phantom/);
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

  it('says after 15 s where to find the window of the wallet', async () => {
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
      async (changing: TestWallet) => {
        const next = privateKeyToAccount(generatePrivateKey());
        balances.hold(next.address, AMOY, 'USDC', 70);
        (changing as EvmWallet).use(next);
        await changing.emit('accountsChanged', [next.address]);
      },
    ],
    [
      'a Solana wallet',
      phantom,
      'signTransaction',
      async (changing: TestWallet) => {
        const next = solanaWalletLike('Solflare').address;
        balances.hold(next, SOLANA_DEVNET, 'USDG', 70);
        await changing.emit('change', [next]);
      },
    ],
  ] as const) {
    it(`drops the request to the previous account when ${what} changes to another`, async () => {
      const changing = wallet();
      const sign = holdAnswers(changing, method);
      const { visitor, id } = await press(changing);
      await change(changing);
      await visitor.alerts(/has changed.*Nothing was taken/);
      // The previous account signs after all.
      sign();
      await visitor.page.locator('#accepted').filter({ hasText: 'you have 70.00' }).waitFor();
      assert.equal(await visitor.page.getByText('you have 25.00').count(), 0);
      assert.deepEqual(await shop.state(id), { session: 'open', payments: [], events: [] });
      await visitor.leave();
    });
  }

  it('lets the buyer use another account, and signs with that one', async () => {
    const wallet = metaMask();
    wallet.next.set('eth_signTypedData_v4', neverEnds);
    const next = privateKeyToAccount(generatePrivateKey());
    balances.hold(next.address, BASE_SEPOLIA, 'USDC', 70);
    const { visitor, id } = await press(wallet);
    wallet.next.set('wallet_requestPermissions', async () => wallet.use(next));
    await visitor.press('Use another account');
    await visitor.sees('Payment complete');
    assert.equal((await shop.payment(id)).payer, next.address);
    await visitor.leave();
  });

  it('says where to change the account when the wallet has no method for it', async () => {
    const wallet = metaMask('Coinbase Wallet');
    wallet.next.set('eth_signTypedData_v4', neverEnds);
    const { visitor } = await press(wallet);
    await visitor.press('Use another account');
    await visitor.alerts(/Choose the account in Coinbase Wallet itself/);
    await visitor.leave();
  });

  it('drops the balances of a disconnected account, and follows the network', async () => {
    const wallet = metaMask();
    balances.hold(wallet.address, AMOY, 'USDC', 25);
    wallet.next.set('eth_signTypedData_v4', () => Promise.reject(new Error('User rejected')));
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id, { wallets: [wallet] });
    const button = (name: string) => visitor.page.getByRole('button', { name });
    await button('Pay $4.50 with MetaMask').click();
    const line = (text: string) => visitor.page.locator('#accepted').filter({ hasText: text }).waitFor();
    await line('USDC on Base Sepolia');
    await button('Pay 4.50 USDC with MetaMask').waitFor();
    wallet.chainId = 80002;
    await wallet.emit('chainChanged', '0x13882');
    await line('USDC on Polygon Amoy');
    // A wallet emits this while it switches networks, though it stays connected.
    await wallet.emit('disconnect', { code: 1013 });
    await wallet.emit('accountsChanged', []);
    await button('Pay $4.50 with MetaMask').waitFor();
    assert.equal(await visitor.page.getByText(/you have \d/).count(), 0);
    await visitor.leave();
  });

  it('counts a press during which the network, and so the words on the button, change', async () => {
    const wallet = metaMask();
    balances.hold(wallet.address, AMOY, 'USDC', 25);
    wallet.next.set('eth_signTypedData_v4', rejects);
    const visitor = await shop.visitPage(await shop.buildSession(), { wallets: [wallet] });
    await visitor.press(/^Pay .* with MetaMask/);
    await visitor.alerts('declined');
    await visitor.page.getByRole('button', { name: 'Pay 4.50 USDC with MetaMask' }).hover();
    await visitor.page.mouse.down();
    wallet.chainId = 80002;
    await wallet.emit('chainChanged', '0x13882');
    await visitor.page.locator('#accepted').filter({ hasText: 'USDC on Polygon Amoy' }).waitFor();
    await visitor.page.mouse.up();
    await visitor.sees('Payment complete');
    await visitor.leave();
  });
});
