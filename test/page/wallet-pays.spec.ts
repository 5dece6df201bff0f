import assert from 'node:assert/strict';
import { openShop, type Shop } from '../support/page/shop.js';
import { evmWallet } from '../support/page/wallets.js';

const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';

describe('a wallet in the page', () => {
  let shop: Shop;
  before(async () => {
    shop = await openShop();
  });
  after(async () => {
    await shop.close();
  });

  it('pays USDC, and the buyer sees the receipt', async () => {
    const session = await shop.buildSession();
    const wallet = evmWallet();
    wallet.balances.set(USDC, 12_000_000n);
    const visitor = await shop.visitPage(session, { wallets: [wallet] });
    await visitor.sees('Pay with your wallet');
    await visitor.page.getByRole('button', { name: 'Pay 4.50 USDC with Fox Wallet' }).click();
    await visitor.sees('Payment complete');
    const payment = await shop.payment(session.id);
    assert.deepEqual([payment.channel, payment.status, payment.payer], ['page', 'succeeded', wallet.address]);
    assert.deepEqual(wallet.asked.at(-1), 'eth_signTypedData_v4');
    await visitor.leave();
  });
});
