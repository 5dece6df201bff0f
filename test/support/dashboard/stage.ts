import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { BrowserPage, TestBrowser } from '../../../lab/world/page/browser.js';
import { buildMerchant, type Merchant } from '../../../lab/world/shop/factories.js';
import { openTestApp, type TestApp } from '../app.js';
import { openBrowser } from '../page/shop.js';

/** A service with a browser in front of its dashboard. */
export interface Stage {
  app: TestApp;
  browser: TestBrowser;
  merchant: Merchant;
  url: string;
  /** Opens the dashboard in a tab of its own, signed in with a key unless it is undefined. */
  visit(key: string | undefined, place?: string, options?: BrowserContextOptions): Promise<Dashboard>;
  close(): Promise<void>;
}

/** The dashboard in one tab. */
export interface Dashboard {
  page: Page;
  /** Errors in the console, violations of the content policy, requests to other hosts. */
  problems: string[];
  /** Opens another screen in the same tab. */
  goTo(place: string): Promise<void>;
  /** Waits for the title of a screen. */
  sees(title: string): Promise<void>;
  press(button: string | RegExp): Promise<void>;
  /** Waits for the page's message about an action. */
  says(words: string | RegExp): Promise<void>;
  /** Closes the tab; fails if it had problems. A refused request is one, unless its status is expected. */
  leave(...expectedStatuses: number[]): Promise<void>;
  /** Closes a tab that has had problems. */
  close(): Promise<void>;
}

const PATIENCE_MS = 90_000;
export async function openStage(environment: Record<string, string> = {}): Promise<Stage> {
  const browser = await openBrowser();
  const app = await openTestApp({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true', ...environment });
  const merchant = await buildMerchant(app.db);
  const url = `http://127.0.0.1:${app.port}/dashboard`;
  return {
    app,
    browser,
    merchant,
    url,
    async visit(key, place = '#/', options) {
      const opened = await browser.open(options);
      const { page } = opened;
      page.setDefaultTimeout(PATIENCE_MS);
      if (key !== undefined) await keepKey(page, key);
      await page.goto(url + place);
      return createDashboard(opened);
    },
    async close() {
      await browser.close();
      await app.close();
    },
  };
}

/** Keeps the key as the page does after a sign-in; a reload after a sign-out is not signed in again. */
async function keepKey(page: Page, key: string): Promise<void> {
  await page.addInitScript(`
    if (!sessionStorage.getItem('was-opened')) sessionStorage.setItem('checkout-key', '${key}');
    sessionStorage.setItem('was-opened', 'true');`);
}

function createDashboard({ page, problems, close }: BrowserPage): Dashboard {
  return {
    page,
    problems,
    goTo: async (place) => {
      await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
    },
    sees: (title) => page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor(),
    press: (button) => page.getByRole('button', { name: button }).click(),
    says: (words) => page.locator('.notices').getByText(words).waitFor(),
    async leave(...expectedStatuses) {
      await close();
      const isExpected = (problem: string): boolean =>
        expectedStatuses.some((status) => problem.includes(`status of ${status}`));
      assert.deepEqual(
        problems.filter((problem) => !isExpected(problem)),
        [],
      );
    },
    close,
  };
}
