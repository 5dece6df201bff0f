import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { projectRoot } from '../../local/project-root.js';
import { openShop, type Shop } from '../support/page/shop.js';
import { PAGE_STATES, type PageStateName } from '../support/page/states.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const FOLDER = path.join(projectRoot(), '.screenshots');

const VIEWS: Record<string, BrowserContextOptions> = {
  'desktop light': { viewport: { width: 1280, height: 860 } },
  'desktop dark': { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  'phone light': phone('light'),
  'phone dark': phone('dark'),
};

function phone(colorScheme: 'light' | 'dark'): BrowserContextOptions {
  return { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, colorScheme };
}

describe('the page has nothing that axe finds', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    mkdirSync(FOLDER, { recursive: true });
    shop = await openShop();
  });
  after(async () => {
    await shop.close();
  });

  for (const name of Object.keys(PAGE_STATES) as PageStateName[]) {
    for (const [view, browser] of Object.entries(VIEWS)) {
      it(`${name}, ${view}`, async () => {
        const visitor = await PAGE_STATES[name](shop, { browser: { ...browser, reducedMotion: 'reduce' } });
        const file = `${name}-${view}`.replaceAll(/[^a-z]+/g, '-');
        await visitor.page.screenshot({ path: path.join(FOLDER, `${file}.png`), fullPage: true });
        assert.deepEqual(await violations(visitor.page), []);
        assert.equal(await scrollsSideways(visitor.page), false);
        await visitor.leave();
      });
    }
  }
});

/** Through the debugger, which the page's policy does not bind. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate(
    `axe.run({ runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) => violations.map(({ id, nodes }) =>
      id + ': ' + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + failureSummary).join(' | ')))`,
  );
  return found as string[];
}

async function scrollsSideways(page: Page): Promise<boolean> {
  return await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}
