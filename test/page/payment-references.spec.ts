import assert from 'node:assert/strict';
import type { Hex } from 'viem';
import { type EvmWallet, fundedWallet, WalletError } from '../../lab/world/page/wallets.js';
import { forAllTests } from '../support/hooks.js';
import { openShop } from '../support/page/shop.js';

const ATTEMPTS = 5;

describe('the nonces that the page signs', () => {
  const shop = forAllTests(openShop);

  /** The nonces of the signatures that the wallet was asked for, all of which it declines. */
  function declineAll(wallet: EvmWallet): Hex[] {
    const nonces: Hex[] = [];
    const { answer } = wallet;
    wallet.answer = async (method, params) => {
      if (method !== 'eth_signTypedData_v4') return await answer(method, params);
      nonces.push(JSON.parse(String(params[1])).message.nonce);
      throw new WalletError(4001, 'User rejected the request.');
    };
    return nonces;
  }

  it('name the session, another one at each attempt, also after those that came with the page', async () => {
    const session = await shop.buildSession();
    const wallet = fundedWallet();
    const nonces = declineAll(wallet);
    const visitor = await shop.visitPage(session, { wallets: [wallet] });
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      await visitor.press(/^Pay .*Fox Wallet/);
      await visitor.alerts('You declined in your wallet.');
      assert.equal(nonces.length, attempt);
    }
    assert.equal(new Set(nonces).size, ATTEMPTS);
    for (const nonce of nonces)
      assert.deepEqual(shop.app.references.read(nonce), { payableId: session.id, isFixed: false });
    await visitor.leave();
  });

  it('are random when no more can be had, rather than none', async () => {
    const session = await shop.buildSession();
    const wallet = fundedWallet();
    const nonces = declineAll(wallet);
    const visitor = await shop.visitPage(session, { wallets: [wallet] });
    const nothing = { status: 200, contentType: 'text/html', body: '<p>Later</p>' };
    await visitor.page.route(/\/page(\?|$)/, (route) => route.fulfill(nothing));
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      await visitor.press(/^Pay .*Fox Wallet/);
      await visitor.alerts('You declined in your wallet.');
    }
    assert.equal(new Set(nonces).size, ATTEMPTS);
    assert.equal(shop.app.references.read(nonces.at(-1) ?? ''), undefined);
    await visitor.leave();
  });
});
