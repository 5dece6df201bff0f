import assert from 'node:assert/strict';
import { failsToSettle, refuses } from '../../lab/world/facilitator/dial.js';
import type { Visitor } from '../../lab/world/page/visit.js';
import { fundedWallet } from '../../lab/world/page/wallets.js';
import { forAllTests } from '../support/hooks.js';
import { openShop } from '../support/page/shop.js';

const REFUSAL = 'kyt_risk_detected';
const SETTLED = 'while it was settled';
const WITH_FOX = /^Pay .* with Fox Wallet/;

/** Fox Wallet is the first that the page finds, and the wallet that it remembers. */
describe('after a wallet was refused for good, the page', () => {
  // A taken payment is answered 202, and the page follows it.
  const shop = forAllTests(() => openShop({ environment: { SETTLE_WAIT_MS: '0' } }));

  const refusals: Record<string, (visitor: Visitor) => Promise<void>> = {
    'before it was taken': async (visitor) => {
      shop.facilitator.verify.next(refuses(REFUSAL));
      await visitor.press(WITH_FOX);
    },
    [SETTLED]: async (visitor) => {
      const hold = shop.facilitator.settle.holdNext(failsToSettle(REFUSAL));
      await visitor.press(WITH_FOX);
      await visitor.sees('Confirming the payment');
      hold.release();
    },
  };
  for (const [when, refuse] of Object.entries(refusals)) {
    it(`names another on its button, when the payment was refused ${when}`, async () => {
      const wallets = [fundedWallet(), fundedWallet('Owl Wallet')];
      const visitor = await shop.visitPage(await shop.buildSession(), { wallets });
      await refuse(visitor);
      await visitor.alerts(/refused this wallet.*Use another account or another wallet/);
      for (const isReloaded of [false, true]) {
        if (isReloaded) await visitor.page.reload();
        // A payment that was not taken left nothing that a reload could tell.
        if (isReloaded && when === SETTLED) await visitor.alerts(/refused this wallet/);
        await visitor.page.locator('#wallets .primary', { hasText: 'with Owl Wallet' }).waitFor();
        await visitor.page.locator('#wallets .wallets', { hasText: 'Fox Wallet' }).waitFor();
        assert.equal(await visitor.page.getByRole('button', { name: WITH_FOX }).count(), 0);
      }
      await visitor.press(/^Pay .* with Owl Wallet/);
      await visitor.sees('Payment complete');
      await visitor.leave();
    });
  }

  it('shows the other ways when there is no other, and lets another account of it pay', async () => {
    const visitor = await shop.visitPage(await shop.buildSession(), { wallets: [fundedWallet()] });
    shop.facilitator.verify.next(refuses(REFUSAL));
    await visitor.press(WITH_FOX);
    await visitor.alerts(/refused this wallet/);
    await visitor.page.locator('#ways[open]').waitFor();
    assert.equal(await visitor.page.locator('#wallets .primary').count(), 0);
    await visitor.press(/^Fox Wallet/);
    await visitor.sees('Payment complete');
    await visitor.leave();
  });

  it('names it as before when the payment failed for another reason', async () => {
    const wallets = [fundedWallet(), fundedWallet('Owl Wallet')];
    const visitor = await shop.visitPage(await shop.buildSession(), { wallets });
    shop.facilitator.verify.next(refuses('insufficient_funds'));
    await visitor.press(WITH_FOX);
    await visitor.alerts(/did not go through/);
    await visitor.press(WITH_FOX);
    await visitor.sees('Payment complete');
    await visitor.leave();
  });
});
