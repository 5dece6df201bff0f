import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { scrollsSideways, violations } from '../support/page/accessibility.js';
import { layoutShift, watchLayout } from '../support/page/layout-shift.js';
import { openShop, type Shop } from '../support/page/shop.js';
import { PAGE_STATES, type PageStateName } from '../support/page/states.js';

/** With SCREENSHOTS=true, screenshots are written to .screenshots, which is too slow for every run. */
const IS_LOOKED_AT = process.env.SCREENSHOTS === 'true';
const FOLDER = path.join(projectRoot(), '.screenshots');

/** The first three have each size and each scheme. */
const VIEWS = [
  { width: 1440, height: 900, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
  { width: 320, height: 640, colorScheme: 'light' },
  { width: 1440, height: 900, colorScheme: 'dark' },
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 320, height: 640, colorScheme: 'dark' },
] as const;
/** These are checked in three views; the other states take turns, one view each. Together these have every part of the page. */
const IN_THREE_VIEWS: readonly PageStateName[] = ['open, with balances', 'signing', 'with a brand'];

/** With SCREENSHOTS=true, these are the pictures of the page in docs/images/. */
const PICTURES: Readonly<Record<string, string>> = {
  'open-1440-light.png': 'page-open.png',
  'open-without-a-wallet-390-light.png': 'page-phone.png',
  'signing-390-light.png': 'page-signing.png',
  'paid-1440-light.png': 'page-paid.png',
  'open-390-dark.png': 'page-dark.png',
};

const NARROWEST = { width: 320, height: 640 };

/** The largest cumulative layout shift of a state, as browsers measure it. */
const MOST_SHIFT = 0.01;

describe('axe finds no problem in the page', () => {
  let shop: Shop;
  before(async () => {
    mkdirSync(FOLDER, { recursive: true });
    shop = await openShop();
  });
  after(async () => {
    await shop.close();
  });

  for (const [index, name] of (Object.keys(PAGE_STATES) as PageStateName[]).entries()) {
    const [first, count] = IN_THREE_VIEWS.includes(name) ? [0, 3] : [index % VIEWS.length, 1];
    const views = IS_LOOKED_AT ? VIEWS : VIEWS.slice(first, first + count);
    it(name, async () => {
      const visitor = await PAGE_STATES[name](shop, { prepare: watchLayout });
      const { page } = visitor;
      // The redirect to the merchant waits while the page is hidden.
      await page.evaluate('Object.defineProperty(document, "hidden", { value: true })');
      assert.ok((await layoutShift(page)) < MOST_SHIFT, String(await page.evaluate('window.layoutShifts')));
      for (const { colorScheme, ...size } of views) {
        const view = `${size.width}-${colorScheme}`;
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme });
        const file = `${name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}-${view}.png`;
        if (IS_LOOKED_AT) await page.screenshot({ path: path.join(FOLDER, file), fullPage: true });
        const picture = IS_LOOKED_AT ? PICTURES[file] : undefined;
        if (picture !== undefined)
          await page.screenshot({ path: path.join(projectRoot(), 'docs/images', picture) });
        assert.deepEqual(await violations(page), [], view);
        assert.equal(await scrollsSideways(page), false, view);
      }
      await page.setViewportSize(NARROWEST);
      assert.equal(await scrollsSideways(page), false, 'at the narrowest');
      await visitor.leave();
    });
  }
});
