import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { BrowserPage, TestBrowser } from './browser.js';
import { installWallets, type TestWallet } from './wallets.js';

export interface Visit {
  wallets?: readonly TestWallet[];
  browser?: BrowserContextOptions;
  /** Called before the page is opened. */
  prepare?: (page: Page) => Promise<void>;
}

export interface Visitor {
  page: Page;
  /** Errors in the console, violations of the content policy, requests to other hosts. */
  problems: string[];
  /** The heading of the current state. */
  heading(): Promise<string>;
  /** Waits for a heading. */
  sees(heading: string | RegExp, timeoutMs?: number): Promise<void>;
  /** Selects the entry with this label. */
  choose(entry: string): Promise<void>;
  /** Closes the page; fails if it had problems. */
  leave(): Promise<void>;
}

/** Opens a payment page as a buyer with these wallets does. */
export async function visitPage(
  browser: TestBrowser,
  url: string,
  { wallets = [], browser: context, prepare }: Visit = {},
): Promise<Visitor> {
  const opened = await browser.open(context);
  if (wallets.length > 0) await installWallets(opened.page, wallets);
  await prepare?.(opened.page);
  await opened.page.goto(url);
  return createVisitor(opened);
}

function createVisitor({ page, problems }: BrowserPage): Visitor {
  const state = page.locator('.payment h1:visible, .payment h2:visible').first();
  return {
    page,
    problems,
    heading: async () => (await state.textContent()) ?? '',
    async sees(heading, timeout = 30_000) {
      await page
        .locator('.payment h1:visible, .payment h2:visible')
        .filter({ hasText: heading })
        .first()
        .waitFor({ timeout });
    },
    async choose(entry) {
      const others = page.locator('#other-entries');
      if ((await others.getAttribute('open')) === null) await others.locator('summary').click();
      await page.getByRole('radio', { name: entry }).check();
    },
    async leave() {
      await page.context().close();
      assert.deepEqual(problems, []);
    },
  };
}
