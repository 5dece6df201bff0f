import assert from 'node:assert/strict';
import { LANGUAGES } from '../../api/checkout-page/language.js';
import { REFUND_WORDS } from '../../api/checkout-page/words/refund-words.js';
import { EVM_MERCHANT_KEY, SOLANA_MERCHANT_KEY } from '../../lab/sandbox/networks/wallets.js';
import type { TestWallet } from '../../lab/world/page/wallets.js';
import { buildPaidSession, buildRefund } from '../../lab/world/shop/factories.js';
import { refundTerms } from '../../shared/refunds/present.js';
import { BASE_SEPOLIA, SOLANA_DEVNET } from '../support/checkout.js';
import { openSandboxShop, type SandboxShop } from '../support/page/sandbox-shop.js';
import { resetTestSandbox } from '../support/sandbox.js';

const EVM_BUYER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const SOLANA_BUYER = 'GRQ924CSpmbXFxuMvpN7EWFJbZrwh3CTWrshJ8Le8Zh6';
const ON_SOLANA = {
  network: SOLANA_DEVNET,
  asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  payer: SOLANA_BUYER,
};
const plain = (text: string | null): string => (text ?? '').replaceAll('\u00a0', ' ').replaceAll(/\s+/g, ' ');

describe('the page of a refund', function () {
  this.timeout(120_000);
  let shop: SandboxShop;
  before(async () => {
    shop = await openSandboxShop();
  });
  after(async () => {
    await shop.close();
    await resetTestSandbox();
  });

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
      await visitor.page.getByRole('button', { name: /^Pay 4\.50 USDC on .* with/ }).click();
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
    for (const { tag } of LANGUAGES) {
      const res = await shop.visit(id, { Accept: 'text/html', 'Accept-Language': tag });
      const words = REFUND_WORDS[tag];
      assert.ok(words !== undefined, tag);
      const [start = ''] = words.what.split('{');
      for (const text of [start, words.payHeading, words.duplicate, words.ofPayment])
        assert.ok(res.text.includes(text), `${tag}: ${text}`);
      assert.ok(res.text.includes('&lt;b&gt;order&lt;/b&gt; 7'), tag);
    }
  });
});
