import { NETWORKS } from '../../shared/chains/networks/networks.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { newId } from '../../shared/values/ids.js';
import { startFacilitator } from '../world/facilitator/facilitator.js';
import { launchBrowser } from '../world/page/browser.js';
import { countTransfer, slowDown, type Transfer } from '../world/page/transfer.js';
import { type Visit, type Visitor, visitPage } from '../world/page/visit.js';
import { evmWallet } from '../world/page/wallets.js';
import { buildMerchant, buildSession } from '../world/shop/factories.js';
import type { Row } from './report/benchmark.js';
import { median } from './report/statistics.js';
import type { System } from './system/system.js';

/** First visits; the median counts. */
const VISITS = 15;
const SLOW_VISITS = 5;
const TIMEOUT_MS = 60_000;
const UNREACHABLE = 'http://127.0.0.1:1';

/** The limits of a first visit until a wallet can be pressed, the time on slow 3G. */
const MAX_BYTES = 26 * 1024;
const MAX_REQUESTS = 3;
const USABLE_MS = 4000;

/** The round trip of a slow 3G connection, and the latency of the preset in DevTools, which counts five for each request. */
const ROUND_TRIP_MS = 400;
const DEVTOOLS_MS = 2000;

interface Load extends Transfer {
  readableMs: number;
  usableMs: number;
}

/** Records when the first wallet can be pressed. */
const NOTE_WHEN_USABLE = `new MutationObserver((_, observer) => {
  if (document.querySelector('#wallets button') === null) return;
  window.usableAt = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });`;

/** The web process with a browser in front of it. */
interface PageShop {
  buildSession(overrides?: Partial<CheckoutSession>): Promise<CheckoutSession>;
  visit(sessionId: string, visit: Visit): Promise<Visitor>;
  close(): Promise<void>;
}

/** Measures a first visit to the payment page: requests, bytes over the wire, time until a buyer can read and can pay. */
export async function page(system: System): Promise<Row[]> {
  const shop = await openPageShop(system);
  try {
    const one = await shop.buildSession();
    const lineItems = Array.from({ length: 100 }, (_, index) => ({
      id: newId('li_'),
      name: `Roast number ${index}`,
      description: 'Whole beans, 250 g',
      images: [],
      unitAmountCents: 1250,
      quantity: 1,
    }));
    const many = await shop.buildSession({ lineItems, amountTotalCents: 125_000 });
    return [
      { page: 'one item', ...(await medianVisit(shop, one.id, VISITS)) },
      { page: '100 items', ...(await medianVisit(shop, many.id, VISITS)) },
      {
        page: 'slow 3G, a quarter of the speed',
        ...(await medianVisit(shop, one.id, SLOW_VISITS, ROUND_TRIP_MS)),
      },
      {
        page: 'the same, 2 s for each request',
        ...(await medianVisit(shop, one.id, SLOW_VISITS, DEVTOOLS_MS)),
      },
    ];
  } finally {
    await shop.close();
  }
}

async function openPageShop(system: System): Promise<PageShop> {
  const [browser, facilitator] = await Promise.all([launchBrowser(), startFacilitator()]);
  const noChains = NETWORKS.map(({ environmentSuffix }) => [`RPC_URL_${environmentSuffix}`, UNREACHABLE]);
  const web = await system.startWeb({ FACILITATOR_URL: facilitator.url, ...Object.fromEntries(noChains) });
  const { accountId } = await buildMerchant(system.db);
  return {
    buildSession: (overrides) => buildSession(system.db, accountId, overrides),
    visit: (sessionId, visit) => visitPage(browser, `${web.url}/c/${sessionId}`, visit),
    async close() {
      await browser.close();
      await facilitator.close();
    },
  };
}

async function medianVisit(
  shop: PageShop,
  id: string,
  visits: number,
  latencyMs?: number,
): Promise<Record<string, number | string>> {
  const loads: Load[] = [];
  for (let visit = 0; visit < visits; visit += 1) loads.push(await load(shop, id, latencyMs));
  const middle = (field: keyof Load): number => Math.round(median(loads.map((one) => one[field])));
  const [requests, bytes, usableMs] = [middle('requests'), middle('bytes'), middle('usableMs')];
  const holds = requests <= MAX_REQUESTS && bytes <= MAX_BYTES && usableMs <= USABLE_MS;
  return {
    requests,
    'bytes transferred': bytes,
    'ms to readable text': middle('readableMs'),
    'ms to a wallet to press': usableMs,
    'within 3 requests, 26 KB, 4 s': holds ? 'yes' : 'NO',
  };
}

async function load(shop: PageShop, id: string, latencyMs: number | undefined): Promise<Load> {
  let transfer: Transfer | undefined;
  const visitor = await shop.visit(id, {
    wallets: [evmWallet()],
    prepare: async (page) => {
      page.setDefaultNavigationTimeout(TIMEOUT_MS);
      await page.addInitScript(NOTE_WHEN_USABLE);
      transfer = await countTransfer(page);
      if (latencyMs !== undefined) await slowDown(page, latencyMs);
    },
  });
  await visitor.page.locator('#wallets button').first().waitFor({ timeout: TIMEOUT_MS });
  const readableMs = await visitor.page.evaluate(
    'performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now()',
  );
  const usableMs = await visitor.page.evaluate('window.usableAt');
  await visitor.leave();
  if (transfer === undefined) throw new Error('nothing was counted');
  return { ...transfer, readableMs: Number(readableMs), usableMs: Number(usableMs) };
}
