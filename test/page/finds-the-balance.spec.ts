import assert from 'node:assert/strict';
import type { LinkBalances } from '../../api/checkout-page/page-data.js';
import type { Visitor } from '../../lab/world/page/visit.js';
import type { TestWallet } from '../../lab/world/page/wallets.js';
import { buildRefund, buildSession } from '../../lab/world/shop/factories.js';
import { OFFERED_TOKENS } from '../../shared/chains/networks/networks.js';
import { SHARED_MS } from '../../shared/chains/rpc/throttled-endpoint.js';
import { type FakeBalances, openFakeBalances } from '../support/page/fake-balances.js';
import { openShop, type Shop } from '../support/page/shop.js';
import {
  declines,
  EVM_KINDS,
  evmWalletLike,
  SOLANA_KINDS,
  solanaWalletLike,
} from '../support/page/wallet-kinds.js';

/** The current network of a wallet, where its balance is too low, and a network where it is enough. */
const EVM = {
  live: { here: 8453, poor: 'eip155:8453', rich: 'eip155:137', name: 'Polygon' },
  test: { here: 84532, poor: 'eip155:84532', rich: 'eip155:80002', name: 'Polygon Amoy' },
};
const SOLANA = {
  live: { network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', name: 'Solana' },
  test: { network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', name: 'Solana Devnet' },
};
const MODES = ['live', 'test'] as const;
const SOLANA_BUYER = 'GRQ924CSpmbXFxuMvpN7EWFJbZrwh3CTWrshJ8Le8Zh6';

describe('the page finds the balance', () => {
  let balances: FakeBalances;
  let shop: Shop;
  before(async () => {
    const evm = Object.values(EVM).flatMap(({ poor, rich }) => [poor, rich]);
    balances = await openFakeBalances([...evm, ...Object.values(SOLANA).map(({ network }) => network)]);
    shop = await openShop({ environment: balances.environment });
  });
  after(async () => {
    await shop.close();
    await balances.close();
  });

  const buildIn = async (mode: (typeof MODES)[number]): Promise<string> =>
    (await buildSession(shop.app.db, shop.merchant.accountId, { livemode: mode === 'live' })).id;
  const button = (visitor: Visitor, name: string | RegExp) => visitor.page.getByRole('button', { name });

  /** A click that is rejected shows the next click's price; the next click signs it. */
  async function payWhereRich(
    id: string,
    wallet: TestWallet & { next: Map<string, () => Promise<unknown>> },
    asks: { method: string; declined: () => Promise<never>; promise: string; networks: readonly string[] },
  ): Promise<void> {
    const { name } = wallet.identity;
    const visitor = await shop.visitPage(id, { wallets: [wallet] });
    // On a busy machine an endpoint may answer too late for the service, and the page chooses without its balance.
    for (;;) {
      const answered = visitor.page.waitForResponse((response) => response.url().includes('/balances?'));
      wallet.next.set(asks.method, asks.declined);
      await visitor.press(`Pay $4.50 with ${name}`);
      await visitor.alerts('declined');
      const { balances: read }: LinkBalances = await (await answered).json();
      const isUnread = ({ network, balance }: (typeof read)[number]): boolean =>
        balance === null && asks.networks.includes(network);
      if (!read.some(isUnread)) break;
      await visitor.page.reload();
    }
    await visitor.page.locator('#accepted').filter({ hasText: asks.promise }).waitFor();
    await visitor.press(/^Pay 4\.50 USD. with /);
    await visitor.sees('Payment complete');
    await visitor.leave();
  }

  // The modes take turns: they differ in their networks, not in the wallet's behaviour.
  for (const [index, [name, kind]] of Object.entries(EVM_KINDS).entries()) {
    const mode = MODES[index % 2] ?? 'test';
    it(`of ${name}, whose current network has too little, in ${mode} mode`, async () => {
      const { here, poor, rich, name: richName } = EVM[mode];
      const wallet = evmWalletLike(name as keyof typeof EVM_KINDS, here);
      balances.hold(wallet.address, poor, 'USDC', 1);
      balances.hold(wallet.address, rich, 'USDC', 120);
      const id = await buildIn(mode);
      const promise = `USDC on ${richName}`;
      await payWhereRich(id, wallet, {
        method: 'eth_signTypedData_v4',
        declined: declines(kind),
        promise,
        networks: [poor, rich],
      });
      const { network, payer } = await shop.payment(id);
      assert.deepEqual([network, payer], [rich, wallet.address]);
    });
  }

  for (const [index, [name, kind]] of Object.entries(SOLANA_KINDS).entries()) {
    const mode = MODES[index % 2] ?? 'test';
    it(`of ${name} on Solana, which has too little of the first token, in ${mode} mode`, async () => {
      const { network, name: networkName } = SOLANA[mode];
      const wallet = solanaWalletLike(name as keyof typeof SOLANA_KINDS);
      balances.hold(wallet.address, network, 'USDC', 1);
      balances.hold(wallet.address, network, 'USDG', 120);
      const id = await buildIn(mode);
      const promise = `USDG on ${networkName}`;
      await payWhereRich(id, wallet, {
        method: 'signTransaction',
        declined: declines(kind),
        promise,
        networks: [network],
      });
      const { token, payer } = await shop.payment(id);
      assert.deepEqual([token, payer], ['USDG', wallet.address]);
    });
  }

  it('of a merchant who refunds a live payment from a wallet that knows mainnet only', async () => {
    const wallet = solanaWalletLike('Phantom');
    wallet.identity.chains = ['solana:mainnet'];
    const network = SOLANA.live.network;
    const token = OFFERED_TOKENS.find((one) => one.network.caip2 === network && one.symbol === 'USDC');
    const paid = { livemode: true, network, asset: token?.address ?? '', payer: SOLANA_BUYER };
    const { id } = await buildRefund(shop.app.db, shop.merchant.accountId, {}, paid);
    balances.hold(wallet.address, network, 'USDC', 120);
    const visitor = await shop.visitPage(id, { wallets: [wallet] });
    await button(visitor, 'Pay 4.50 USDC with Phantom').click();
    await visitor.sees('Refund complete');
    await visitor.leave();
  });

  it('shows the entry that it would pay, and the others when they are asked for', async () => {
    const wallet = evmWalletLike('MetaMask', EVM.test.here);
    balances.hold(wallet.address, EVM.test.poor, 'USDC', 1);
    balances.hold(wallet.address, EVM.test.rich, 'USDC', 120);
    wallet.next.set('eth_signTypedData_v4', declines(EVM_KINDS.MetaMask));
    const visitor = await shop.visitPage(await buildIn('test'), { wallets: [wallet] });
    await button(visitor, /MetaMask/).click();
    await visitor.alerts('declined');
    const rich = visitor.page.getByRole('radio', { name: 'Polygon Amoy · USDC you have 120.00' });
    const poor = visitor.page.getByRole('radio', { name: 'Base Sepolia · USDC you have 1.00' });
    assert.equal(await rich.count(), 0);
    await visitor.page.locator('#accepts > summary').click();
    assert.equal(await rich.isChecked(), true);
    await poor.check();
    // The token chosen by hand shows that the balance is too low, and nothing else is signed instead.
    await button(visitor, 'Pay 4.50 USDC with MetaMask').click();
    const alert = visitor.page.getByRole('alert').filter({ hasText: /Not enough USDC on Base Sepolia/ });
    await alert.waitFor();
    assert.equal(wallet.requests.filter((method) => method === 'eth_signTypedData_v4').length, 1);
    await visitor.leave();
  });

  it('signs only the entry that the button names, even when the balance has moved', async () => {
    const wallet = evmWalletLike('Rabby', EVM.test.here);
    wallet.next.set('eth_signTypedData_v4', declines(EVM_KINDS.Rabby));
    balances.hold(wallet.address, EVM.test.poor, 'USDC', 25);
    const id = await buildIn('test');
    const visitor = await shop.visitPage(id, { wallets: [wallet] });
    await button(visitor, /Rabby/).click();
    await visitor.page.getByText('USDC on Base Sepolia', { exact: true }).waitFor();
    balances.hold(wallet.address, EVM.test.poor, 'USDC', 0);
    balances.hold(wallet.address, EVM.test.rich, 'USDC', 25);
    await visitor.page.waitForTimeout(SHARED_MS + 200);
    await button(visitor, 'Pay 4.50 USDC with Rabby').click();
    await visitor.alerts('Not enough USDC on Base Sepolia');
    assert.equal(wallet.requests.filter((method) => method === 'eth_signTypedData_v4').length, 1);
    await visitor.page.getByText('USDC on Polygon Amoy', { exact: true }).waitFor();
    await button(visitor, 'Pay 4.50 USDC with Rabby').click();
    await visitor.sees('Payment complete');
    assert.equal((await shop.payment(id)).network, EVM.test.rich);
    await visitor.leave();
  });

  it('while a network hangs, which ranks as unknown above too little', async () => {
    const wallet = evmWalletLike('MetaMask', EVM.test.here);
    balances.hold(wallet.address, EVM.test.poor, 'USDC', 1);
    wallet.chains.add(80002);
    balances.endpoint(EVM.test.rich).fail('hang');
    wallet.call = async () => `0x${120_000_000n.toString(16).padStart(64, '0')}`;
    const id = await buildIn('test');
    const visitor = await shop.visitPage(id, { wallets: [wallet] });
    await button(visitor, /MetaMask/).click();
    await visitor.sees('Payment complete');
    assert.equal((await shop.payment(id)).network, EVM.test.rich);
    balances.endpoint(EVM.test.rich).recover();
    await visitor.leave();
  });
});
