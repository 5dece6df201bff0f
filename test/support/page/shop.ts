import { launchBrowser, type TestBrowser } from '../../../lab/world/page/browser.js';
import { type Visit, type Visitor, visitPage } from '../../../lab/world/page/visit.js';
import type { Payable } from '../../../shared/payables/model.js';
import { type Checkout, type CheckoutOptions, openCheckout } from '../checkout.js';
import { keepOpen } from '../suite.js';

/** A checkout with a browser in front of it. */
export interface Shop extends Checkout {
  visitPage(session: Payable | string, visit?: Visit): Promise<Visitor>;
  pageUrl(id: string): string;
}

let keptBrowser: Promise<void> | undefined;

/** Chromium starts once in each of mocha's processes. */
export async function openBrowser(): Promise<TestBrowser> {
  keptBrowser ??= keepOpen(launchBrowser);
  await keptBrowser;
  return await launchBrowser();
}

export async function openShop(options: CheckoutOptions = {}): Promise<Shop> {
  const browser = await openBrowser();
  return withBrowser(await openCheckout(options), browser);
}

export function withBrowser<C extends Checkout>(checkout: C, browser: TestBrowser): C & Shop {
  const pageUrl = (id: string): string => `http://127.0.0.1:${checkout.app.port}/c/${id}`;
  return {
    ...checkout,
    pageUrl,
    visitPage: (session, visit) =>
      visitPage(browser, pageUrl(typeof session === 'string' ? session : session.id), visit),
    async close() {
      await browser.close();
      await checkout.close();
    },
  };
}
