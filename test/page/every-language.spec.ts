import assert from 'node:assert/strict';
import { LANGUAGES } from '../../api/checkout-page/language.js';
import type { Visitor } from '../../lab/world/page/visit.js';
import { fundedWallet, neverEnds } from '../../lab/world/page/wallets.js';
import { forAllTests } from '../support/hooks.js';
import { scrollsSideways } from '../support/page/accessibility.js';
import { openShop } from '../support/page/shop.js';
import { buildSurplus, buildUncertainPayment } from '../support/uncertain-payment.js';

/**
 * The states with the most words; a desktop at 1,280 px that is zoomed to 400 % has 320 px as well. axe looks at all of them in
 * test/page/every-state.spec.ts.
 */
type Wordy = 'open' | 'signing' | 'uncertain' | 'paid twice';

describe('every language', () => {
  const shop = forAllTests(openShop);
  let ids: Record<Wordy, string>;
  /** A tab without a wallet and a tab with a wallet go through all languages. */
  let tabs: Record<'plain' | 'wallet', Visitor>;
  const wallet = fundedWallet();
  before(async () => {
    const { id } = await shop.buildSession();
    const uncertain = (await buildUncertainPayment(shop)).session.id;
    ids = { open: id, signing: id, uncertain, 'paid twice': (await buildSurplus(shop)).session.id };
    tabs = { plain: await shop.visitPage(id), wallet: await shop.visitPage(id, { wallets: [wallet] }) };
  });
  after(async () => {
    for (const visitor of Object.values(tabs)) await visitor.leave();
  });

  async function visit(state: Wordy, tag: string): Promise<Visitor> {
    wallet.connected = false;
    wallet.next.set('eth_signTypedData_v4', neverEnds);
    const visitor = state === 'signing' ? tabs.wallet : tabs.plain;
    await visitor.page.goto(shop.pageUrl(`${ids[state]}?lang=${tag}`));
    return visitor;
  }

  const REACHED: Record<Wordy, (visitor: Visitor) => Promise<void>> = {
    open: ({ page }) => page.locator('#ways[open]').waitFor(),
    async signing({ page }) {
      await page.locator('#wallets button').first().click();
      await page.locator('.signing > div').nth(4).waitFor();
    },
    uncertain: ({ page }) => page.locator('#uncertain-read:not([hidden])').waitFor(),
    'paid twice': ({ page }) => page.locator('[data-surplus]').waitFor(),
  };

  for (const { tag, direction } of LANGUAGES) {
    it(`${tag} fits a phone in the states with the most words`, async () => {
      for (const state of Object.keys(REACHED) as Wordy[]) {
        const visitor = await visit(state, tag);
        const { page } = visitor;
        await REACHED[state](visitor);
        await page.evaluate(
          'for (const one of document.querySelectorAll("details:not([name])")) one.open = true',
        );
        const html = page.locator('html');
        assert.deepEqual([await html.getAttribute('lang'), await html.getAttribute('dir')], [tag, direction]);
        for (const width of [390, 320]) {
          await page.setViewportSize({ width, height: 640 });
          assert.equal(await scrollsSideways(page), false, `${state} at ${width} px`);
        }
        assert.deepEqual(visitor.problems, [], state);
      }
    });
  }
});
