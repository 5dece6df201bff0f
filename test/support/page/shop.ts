import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Payable } from '../../../shared/payables/model.js';
import { type Checkout, type CheckoutOptions, openCheckout } from '../checkout.js';
import { type BrowserPage, launchBrowser, type TestBrowser } from './browser.js';
import { installWallets, type TestWallet } from './wallets.js';

/** A checkout with a browser in front of it. */
export interface Shop extends Checkout {
  visitPage(session: Payable | string, visit?: Visit): Promise<Visitor>;
  pageUrl(id: string): string;
}

export interface Visit {
  wallets?: readonly TestWallet[];
  browser?: BrowserContextOptions;
  /** Called before the page is opened. */
  prepare?: (page: Page) => Promise<void>;
}

export interface Visitor {
  page: Page;
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

export async function openShop(options: CheckoutOptions = {}): Promise<Shop> {
  const [checkout, browser] = await Promise.all([openCheckout(options), launchBrowser()]);
  return withBrowser(checkout, browser);
}

export function withBrowser(checkout: Checkout, browser: TestBrowser): Shop {
  const pageUrl = (id: string): string => `http://127.0.0.1:${checkout.app.port}/c/${id}`;
  return {
    ...checkout,
    pageUrl,
    async visitPage(session, { wallets = [], browser: context, prepare } = {}) {
      const opened = await browser.open(context);
      if (wallets.length > 0) await installWallets(opened.page, wallets);
      await prepare?.(opened.page);
      await opened.page.goto(pageUrl(typeof session === 'string' ? session : session.id));
      return visitor(opened);
    },
    async close() {
      await browser.close();
      await checkout.close();
    },
  };
}

function visitor({ page, problems }: BrowserPage): Visitor {
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
