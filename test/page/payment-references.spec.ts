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

  it('name the session, another one at each attempt, and are random rather than none when no more can be had', async () => {
    const wallet = fundedWallet();
    const nonces = declineAll(wallet);
    const session = await shop.buildSession();
    const visitor = await shop.visitPage(session, { wallets: [wallet] });
    const attempt = async (): Promise<void> => {
      nonces.length = 0;
      for (let attempts = 1; attempts <= ATTEMPTS; attempts += 1) {
        await visitor.press(/^Pay .*Fox Wallet/);
        await visitor.alerts('You declined in your wallet.');
        assert.equal(nonces.length, attempts);
      }
      assert.equal(new Set(nonces).size, ATTEMPTS);
    };
    // The later ones did not come with the page.
    await attempt();
    for (const nonce of nonces)
      assert.deepEqual(shop.app.references.read(nonce), { payableId: session.id, isFixed: false });
    const nothing = { status: 200, contentType: 'text/html', body: '<p>Later</p>' };
    await visitor.page.route(/\/page(\?|$)/, (route) => route.fulfill(nothing));
    await visitor.page.goto(shop.pageUrl((await shop.buildSession()).id));
    await attempt();
    assert.equal(shop.app.references.read(nonces.at(-1) ?? ''), undefined);
    await visitor.leave();
  });
});
