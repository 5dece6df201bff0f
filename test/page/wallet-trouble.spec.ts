import assert from 'node:assert/strict';
import { refuses } from '../../lab/world/facilitator/dial.js';
import type { Visitor } from '../../lab/world/page/visit.js';
import { type EvmWallet, evmWallet, neverEnds, rejects, solanaWallet } from '../../lab/world/page/wallets.js';
import { openShop, type Shop } from '../support/page/shop.js';

const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';

describe('a payment in the page fails', function () {
  this.timeout(120_000);
  let shop: Shop;
  let wallet: EvmWallet;
  before(async () => {
    shop = await openShop();
  });
  after(async () => {
    await shop.close();
  });
  beforeEach(() => {
    wallet = evmWallet();
    wallet.balances.set(USDC, 25_000_000n);
  });

  async function open(wallets = [wallet]): Promise<{ visitor: Visitor; id: string }> {
    const { id } = await shop.buildSession();
    return { visitor: await shop.visitPage(id, { wallets }), id };
  }

  const press = (visitor: Visitor): Promise<void> =>
    visitor.page.getByRole('button', { name: /Fox Wallet/ }).click();

  async function assertNotice(visitor: Visitor, words: RegExp): Promise<void> {
    await visitor.page.getByRole('alert').filter({ hasText: words }).waitFor();
    // The buyer can always try again.
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).waitFor();
  }

  async function assertPaysThen(visitor: Visitor, id: string): Promise<void> {
    await press(visitor);
    await visitor.sees('Payment complete');
    assert.equal((await shop.payments(id)).filter(({ status }) => status === 'succeeded').length, 1);
    await visitor.leave();
  }

  it('when the buyer rejects it, and succeeds on the next try', async () => {
    wallet.next.set('eth_signTypedData_v4', rejects);
    const { visitor, id } = await open();
    await press(visitor);
    await assertNotice(visitor, /You declined in your wallet.*Nothing was taken/);
    assert.deepEqual(await shop.state(id), { session: 'open', payments: [], events: [] });
    await assertPaysThen(visitor, id);
  });

  it('when the buyer does not connect', async () => {
    wallet.next.set('eth_requestAccounts', rejects);
    const { visitor, id } = await open();
    await press(visitor);
    await assertNotice(visitor, /You declined/);
    await assertPaysThen(visitor, id);
  });

  it('when the wallet shares no address', async () => {
    wallet.next.set('eth_requestAccounts', async () => []);
    const { visitor } = await open();
    await press(visitor);
    await assertNotice(visitor, /Fox Wallet shared no address/);
    await visitor.leave();
  });

  it('when the wallet never answers and the buyer cancels', async () => {
    wallet.next.set('eth_signTypedData_v4', neverEnds);
    const { visitor, id } = await open();
    await press(visitor);
    await visitor.sees('Confirm in Fox Wallet');
    await visitor.page.getByRole('button', { name: 'Cancel' }).click();
    await assertNotice(visitor, /You cancelled on this page.*still asks, decline there/);
    await assertPaysThen(visitor, id);
  });

  it('when the wallet does not switch its network', async () => {
    wallet.chainId = 1;
    wallet.next.set('wallet_switchEthereumChain', async () => null);
    const { visitor, id } = await open();
    await press(visitor);
    await assertNotice(visitor, /Fox Wallet did not change to Base Sepolia/);
    await assertPaysThen(visitor, id);
  });

  it('when the buyer rejects the switch of network', async () => {
    wallet.chainId = 1;
    wallet.next.set('wallet_switchEthereumChain', rejects);
    const { visitor } = await open();
    await press(visitor);
    await assertNotice(visitor, /You declined/);
    await visitor.leave();
  });

  it('when the balance is too low, before anything is signed', async () => {
    wallet.balances.set(USDC, 1_234_560n);
    const { visitor } = await open();
    await visitor.choose('Base Sepolia · USDC');
    await press(visitor);
    await assertNotice(visitor, /Not enough USDC on Base Sepolia: this wallet holds 1\.23456.USDC/);
    assert.ok(!wallet.requests.includes('eth_signTypedData_v4'));
    await visitor.leave();
  });

  it('when the balance on the new network is too low', async () => {
    wallet.chainId = 1;
    wallet.balances.set(USDC, 0n);
    const { visitor } = await open();
    await visitor.choose('Base Sepolia · USDC');
    await press(visitor);
    await assertNotice(visitor, /Not enough USDC on Base Sepolia: this wallet holds 0\.00/);
    assert.ok(!wallet.requests.includes('eth_signTypedData_v4'));
    await visitor.leave();
  });

  for (const [reason, words] of Object.entries({
    insufficient_funds: /does not hold enough/,
    invalid_exact_evm_payload_authorization_valid_before: /took too long/,
    kyt_risk_too_high: /refused this wallet/,
    something_new: /service refused it\..*Choose another token or network, or another wallet/,
  })) {
    it(`when the facilitator answers ${reason}`, async () => {
      shop.facilitator.verify.next(refuses(reason));
      const { visitor, id } = await open();
      await press(visitor);
      await assertNotice(visitor, words);
      assert.equal((await shop.session(id)).status, 'open');
      await assertPaysThen(visitor, id);
    });
  }

  it('when Solana cannot be read', async () => {
    const ghost = solanaWallet('Fox Wallet');
    const { visitor } = await open([ghost as never]);
    await press(visitor);
    await visitor.page
      .getByRole('alert')
      .filter({ hasText: /payment service does not answer/ })
      .waitFor();
    await visitor.leave();
  });
});
