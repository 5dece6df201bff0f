import assert from 'node:assert/strict';
import { LANGUAGES } from '../../api/checkout-page/language.js';
import { EVM_MERCHANT_KEY, SOLANA_MERCHANT_KEY } from '../../lab/sandbox/networks/wallets.js';
import type { TestWallet } from '../../lab/world/page/wallets.js';
import { buildPaidSession, buildRefund } from '../../lab/world/shop/factories.js';
import { refundTerms } from '../../shared/refunds/terms.js';
import { BASE_SEPOLIA, SOLANA_DEVNET, X_LAYER_TESTNET } from '../support/checkout.js';
import { openSandboxShop, type SandboxShop } from '../support/page/sandbox-shop.js';
import { referenceIn } from '../support/payment-reference.js';
import { resetTestSandbox } from '../support/sandbox.js';

const EVM_BUYER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const SOLANA_BUYER = 'GRQ924CSpmbXFxuMvpN7EWFJbZrwh3CTWrshJ8Le8Zh6';
const ON_SOLANA = {
  network: SOLANA_DEVNET,
  asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  payer: SOLANA_BUYER,
};

const plain = (text: string | null): string => (text ?? '').replaceAll('\u00a0', ' ').replaceAll(/\s+/g, ' ');

/** The wallet pays on the chains of the sandbox: a real EVM chain and a real Solana runtime. */
describe('a wallet in the page', () => {
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
    assert.equal(shop.app.references.read(referenceIn(payment))?.payableId, id);
  }

  it('found by EIP-6963 pays USDC, and the buyer sees the receipt', async () => {
    const session = await shop.buildSession();
    const wallet = shop.evmWallet();
    const visitor = await shop.visitPage(session, { wallets: [wallet] });
    await visitor.sees('Pay with your wallet');
    await visitor.press('Pay $4.50 with Fox Wallet');
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
    const link = await receipt.getByRole('link', { name: /transaction/ }).getAttribute('href');
    assert.equal(link, `https://sepolia.basescan.org/tx/${transaction}`);
    await visitor.leave();
  });

  it('found by Wallet Standard pays USDG', async () => {
    const session = await shop.buildSession();
    const wallet = shop.solanaWallet();
    const visitor = await shop.visitPage(session, { wallets: [wallet] });
    await visitor.choose('Solana Devnet · USDG');
    await visitor.press('Pay 4.50 USDG with Ghost Wallet');
    await visitor.sees('Payment complete');
    await assertPaid(session.id, wallet, SOLANA_DEVNET, 'USDG');
    await visitor.leave();
  });

  it('pays the entry that it can pay, even if it is not the first', async () => {
    const session = await shop.buildSession();
    const wallet = shop.evmWallet();
    wallet.chainId = 1952;
    const visitor = await shop.visitPage(session, { wallets: [wallet] });
    await visitor.press(/Fox Wallet/);
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
    assert.match((await visitor.page.locator('#accepted').textContent()) ?? '', /^USDG on X Layer Testnet/);
    await visitor.press('Pay 4.50 USDG with Fox Wallet');
    await visitor.sees('Payment complete');
    await assertPaid(session.id, wallet, X_LAYER_TESTNET, 'USDG');
    assert.ok(wallet.requests.includes('wallet_switchEthereumChain'));
    await visitor.leave();
  });

  it('is told which network to choose when it does not know it and no definition arrives', async () => {
    const wallet = shop.evmWallet();
    wallet.chains.delete(1952);
    const visitor = await shop.visitPage(await shop.buildSession(), {
      wallets: [wallet],
      prepare: async (page) => {
        await page.route('**/assets/wallet-chains.json', (route) => route.fulfill({ status: 503 }));
      },
    });
    await visitor.choose('X Layer Testnet · USDT');
    await visitor.press(/Fox Wallet/);
    await visitor.alerts('Fox Wallet did not change to X Layer Testnet.');
    assert.ok(!wallet.requests.includes('wallet_addEthereumChain'));
    await visitor.close();
  });

  it('is remembered, and its balances are shown without a prompt', async () => {
    const wallets = [shop.evmWallet(), shop.evmWallet('Rabbit')];
    const first = await shop.visitPage(await shop.buildSession(), { wallets });
    await first.press(/Rabbit/);
    await first.sees('Payment complete');
    const next = await shop.buildSession();
    await first.page.goto(shop.pageUrl(next.id));
    await first.page.getByRole('button', { name: 'Pay 4.50 USDC with Rabbit' }).waitFor();
    await first.page.getByText(/^USDC on Base Sepolia · you have [\d,]+\.\d\d$/).waitFor();
    await first.page.locator('#accepts > summary').click();
    await first.page.getByRole('radio', { name: /^Base Sepolia · USDC you have [\d,]+\.\d\d$/ }).waitFor();
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
        .getByRole('button', { name: /Sandbox EVM wallet/ })
        .first()
        .click();
      await visitor.sees('Payment complete');
      const onSolana = await own.visitPage(await own.buildSession());
      await onSolana.press(/^Sandbox Solana wallet/);
      await onSolana.sees('Payment complete');
      await onSolana.leave();
      await visitor.leave();
    } finally {
      await own.close();
    }
  });

  describe('on the page of a refund', () => {
    async function newRefund(paid = {}): Promise<string> {
      const { accountId } = shop.merchant;
      const { payment } = await buildPaidSession(shop.app.db, accountId, paid);
      const terms = { payTo: payment.payer ?? '', reason: 'duplicate' as const, reference: '<b>order</b> 7' };
      const refund = refundTerms(payment, 450, terms);
      const { id } = await buildRefund(shop.app.db, accountId, { refund, refundedPaymentId: payment.id });
      return id;
    }

    const ways: [string, () => TestWallet, string, object, string][] = [
      ['an EVM wallet', () => shop.evmWallet('Fox Wallet', EVM_MERCHANT_KEY), BASE_SEPOLIA, {}, EVM_BUYER],
      [
        'a Solana wallet',
        () => shop.solanaWallet('Ghost Wallet', SOLANA_MERCHANT_KEY),
        SOLANA_DEVNET,
        ON_SOLANA,
        SOLANA_BUYER,
      ],
    ];
    for (const [name, open, network, paid, buyer] of ways) {
      it(`shows amount, receiver and reason before ${name} signs, and a receipt to the merchant`, async () => {
        const wallet = open();
        await shop.sandbox.chains.fund(wallet.address);
        const id = await newRefund(paid);
        const visitor = await shop.visitPage(id, { wallets: [wallet] });
        await visitor.sees('Pay the refund with your wallet');
        const summary = plain(await visitor.page.locator('.summary').textContent());
        const short = `${buyer.slice(0, 6)}…${buyer.slice(-6)}`;
        assert.ok(
          summary.includes(`Refund of 4.50 USDC to ${short} for Cafe Pocket, order <b>order</b> 7`),
          summary,
        );
        for (const part of ['Refund by Cafe Pocket', '$4.50', buyer, 'Paid twice'])
          assert.ok(summary.includes(part), `${part}: ${summary}`);
        await visitor.press(/^Pay 4\.50 USDC with/);
        await visitor.sees('Refund complete');
        const payment = await shop.payment(id);
        assert.deepEqual(
          [payment.status, payment.channel, payment.payer, payment.payTo, payment.network],
          ['succeeded', 'page', wallet.address, buyer, network],
        );
        const receipt = plain(await visitor.page.locator('.receipt').textContent());
        for (const part of [buyer, id, '4.50 USDC', 'Paid twice'])
          assert.ok(receipt.includes(part), `${part}: ${receipt}`);
        await visitor.leave();
      });
    }

    it('shows them in every language', async () => {
      const id = await newRefund();
      for (const { tag, refundWords: words } of LANGUAGES) {
        const res = await shop.visit(id, { Accept: 'text/html', 'Accept-Language': tag });
        const [start = ''] = words.what.split('{');
        for (const text of [start, words.payHeading, words.duplicate, words.ofPayment])
          assert.ok(res.text.includes(text), `${tag}: ${text}`);
        assert.ok(res.text.includes('&lt;b&gt;order&lt;/b&gt; 7'), tag);
      }
    });
  });
});
