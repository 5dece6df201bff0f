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
  /** Waits for a heading, and lets the page hurry meanwhile. */
  sees(heading: string | RegExp): Promise<void>;
  /** Waits for a heading that the page must show by its own polling. */
  seesByItself(heading: string | RegExp): Promise<void>;
  /** Lets the page poll as fast as for a buyer who keeps returning to it, until `awaited` resolves. */
  hurry<T>(awaited: Promise<T>): Promise<T>;
  /** Waits for an alert with these words. */
  alerts(words: string | RegExp): Promise<void>;
  /** Clicks a button. */
  press(button: string | RegExp): Promise<void>;
  /** Selects the entry with this label. */
  choose(entry: string): Promise<void>;
  /** Closes the page; fails if it had problems. */
  leave(): Promise<void>;
  /** Closes a page that has had problems. */
  close(): Promise<void>;
}

/** Long enough for a busy machine; nothing is measured with it. */
const PATIENCE_MS = 90_000;
const HURRY_MS = 200;
const RETURN = "document.dispatchEvent(new Event('visibilitychange'))";

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

function createVisitor({ page, problems, close }: BrowserPage): Visitor {
  const headings = page.locator('.payment h1:visible, .payment h2:visible');
  const seesByItself = async (heading: string | RegExp): Promise<void> =>
    await headings.filter({ hasText: heading }).first().waitFor();
  const hurry = async <T>(awaited: Promise<T>): Promise<T> => {
    const timer = setInterval(() => void page.evaluate(RETURN).catch(() => {}), HURRY_MS);
    return await awaited.finally(() => clearInterval(timer));
  };
  page.setDefaultTimeout(PATIENCE_MS);
  return {
    page,
    problems,
    sees: (heading) => hurry(seesByItself(heading)),
    seesByItself,
    hurry,
    alerts: (words) => hurry(page.getByRole('alert').filter({ hasText: words }).waitFor()),
    press: (button) => page.getByRole('button', { name: button }).click(),
    async choose(entry) {
      const choice = page.locator('#accepts');
      if ((await choice.getAttribute('open')) === null) await choice.locator('summary').click();
      await page.getByRole('radio', { name: entry }).check();
    },
    async leave() {
      await close();
      assert.deepEqual(problems, []);
    },
    close,
  };
}
