import assert from 'node:assert/strict';
import type { TestWallet } from '../../lab/world/page/wallets.js';
import { BASE_SEPOLIA, SOLANA_DEVNET, X_LAYER_TESTNET } from '../support/checkout.js';
import { openSandboxShop, type SandboxShop } from '../support/page/sandbox-shop.js';
import { resetTestSandbox } from '../support/sandbox.js';

/** On the chains of the sandbox: a real EVM chain and a real Solana runtime. */
describe('a wallet in the page', function () {
  this.timeout(120_000);
  let shop: SandboxShop;
  before(async () => {
    shop = await openSandboxShop();
  });
  after(async () => {
    await shop.close();
    await resetTestSandbox();
  });

  async function assertPaid(id: string, wallet: TestWallet, network: string, token: string): Promise<void> {
    const payment = await shop.payment(id);
    assert.deepEqual(
      [payment.status, payment.channel, payment.payer, payment.network, payment.token],
      ['succeeded', 'page', wallet.address, network, token],
    );
  }

  it('found by EIP-6963 pays USDC, and the buyer sees the receipt', async () => {
    const session = await shop.buildSession();
    const wallet = shop.evmWallet();
    const visitor = await shop.visitPage(session, { wallets: [wallet] });
    await visitor.sees('Pay with your wallet');
    await visitor.page.getByRole('button', { name: 'Pay $4.50 with Fox Wallet' }).click();
    await visitor.sees('Payment complete');
    await assertPaid(session.id, wallet, BASE_SEPOLIA, 'USDC');
    const { transaction } = await shop.payment(session.id);
    const receipt = visitor.page.locator('.receipt');
    for (const text of ['$4.50', '4.50 USDC', 'Base Sepolia', 'Cafe Pocket', session.id]) {
      assert.match(
        ((await receipt.textContent()) ?? '').replaceAll('\u00a0', ' '),
        new RegExp(text.replace('$', '\\$')),
      );
    }
    const link = await receipt.getByRole('link').getAttribute('href');
    assert.equal(link, `https://sepolia.basescan.org/tx/${transaction}`);
    await visitor.leave();
  });

  for (const token of ['USDC', 'USDG']) {
    it(`found by Wallet Standard pays ${token}`, async () => {
      const session = await shop.buildSession();
      const wallet = shop.solanaWallet();
      const visitor = await shop.visitPage(session, { wallets: [wallet] });
      await visitor.choose(`Solana Devnet · ${token}`);
      await visitor.page
        .getByRole('button', { name: `Pay 4.50 ${token} on Solana Devnet with Ghost Wallet` })
        .click();
      await visitor.sees('Payment complete');
      await assertPaid(session.id, wallet, SOLANA_DEVNET, token);
      await visitor.leave();
    });
  }

  it('pays the entry that it can pay, even if it is not the first', async () => {
    const session = await shop.buildSession();
    const wallet = shop.evmWallet();
    wallet.chainId = 1952;
    const visitor = await shop.visitPage(session, { wallets: [wallet] });
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).click();
    await visitor.sees('Payment complete');
    await assertPaid(session.id, wallet, X_LAYER_TESTNET, 'USDC');
    assert.ok(!wallet.requests.includes('wallet_switchEthereumChain'));
    await visitor.leave();
  });

  it('switches its network when the buyer chooses another', async () => {
    const session = await shop.buildSession();
    const wallet = shop.evmWallet();
    const visitor = await shop.visitPage(session, { wallets: [wallet] });
    await visitor.choose('X Layer Testnet · USDG');
    assert.equal(await visitor.page.locator('#pay-network').textContent(), 'X Layer Testnet');
    await visitor.page
      .getByRole('button', { name: 'Pay 4.50 USDG on X Layer Testnet with Fox Wallet' })
      .click();
    await visitor.sees('Payment complete');
    await assertPaid(session.id, wallet, X_LAYER_TESTNET, 'USDG');
    assert.ok(wallet.requests.includes('wallet_switchEthereumChain'));
    await visitor.leave();
  });

  it('gets the definition of a network that it does not know', async () => {
    const wallet = shop.evmWallet();
    wallet.chains.delete(1952);
    const visitor = await shop.visitPage(await shop.buildSession(), { wallets: [wallet] });
    await visitor.choose('X Layer Testnet · USDT');
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).click();
    await visitor.sees('Payment complete');
    assert.ok(wallet.requests.includes('wallet_addEthereumChain'));
    await visitor.leave();
  });

  it('is remembered, and its balances are shown without a prompt', async () => {
    const wallets = [shop.evmWallet(), shop.evmWallet('Rabbit')];
    const first = await shop.visitPage(await shop.buildSession(), { wallets });
    await first.page.getByRole('button', { name: /Rabbit/ }).click();
    await first.sees('Payment complete');
    const next = await shop.buildSession();
    await first.page.goto(shop.pageUrl(next.id));
    await first.page.getByRole('button', { name: 'Pay 4.50 USDC on Base Sepolia with Rabbit' }).waitFor();
    await first.page.getByRole('radio', { name: /^Base Sepolia · USDC · you have [\d,]+\.\d\d$/ }).waitFor();
    assert.equal(await first.page.getByRole('heading', { name: 'Other wallets' }).count(), 1);
    await first.leave();
  });

  it('of the sandbox, which npm start provides, pays with one click', async () => {
    const script = `${shop.sandbox.facilitator.url}/sandbox/wallets.js`;
    const own = await openSandboxShop({ PAGE_SCRIPT_URL: script });
    try {
      const session = await own.buildSession();
      const visitor = await own.visitPage(session);
      await visitor.page
        .getByRole('button', { name: /Sandbox wallet/ })
        .first()
        .click();
      await visitor.sees('Payment complete');
      const onSolana = await own.visitPage(await own.buildSession());
      await onSolana.page.getByRole('button', { name: /Sandbox wallet Solana/ }).click();
      await onSolana.sees('Payment complete');
      await onSolana.leave();
      await visitor.leave();
    } finally {
      await own.close();
    }
  });
});
