import { newId } from '../../shared/values/ids.js';
import { openShop, type Shop } from '../../test/support/page/shop.js';
import { countTransfer, slowDown, type Transfer } from '../../test/support/page/transfer.js';
import { evmWallet } from '../../test/support/page/wallets.js';
import { lendServices } from '../../test/support/suite.js';
import type { Row } from './benchmark.js';
import type { BenchServices } from './services.js';

/** First visits, of which the median counts. */
const VISITS = 15;
const SLOW_VISITS = 5;
const PATIENCE_MS = 60_000;

/** What a first visit may take before any wallet is pressed, and how soon one can be pressed on slow 3G. */
const MOST_BYTES = 24 * 1024;
const MOST_REQUESTS = 3;
const USABLE_MS = 5000;

interface Load extends Transfer {
  readableMs: number;
  usableMs: number;
}

/** When there is a wallet to press. */
const NOTE_WHEN_USABLE = `new MutationObserver((_, observer) => {
  if (document.querySelector('#wallets button') === null) return;
  window.usableAt = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });`;

/** What it takes until a buyer can read the page, and until they can pay: bytes as they go over the wire. */
export async function page(services: BenchServices): Promise<Row[]> {
  await lendServices(services);
  const shop = await openShop({ worker: false });
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
      { page: 'one item', ...(await median(shop, one.id, VISITS)) },
      { page: '100 items', ...(await median(shop, many.id, VISITS)) },
      { page: 'slow 3G, a quarter of the speed', ...(await median(shop, one.id, SLOW_VISITS, 'slow')) },
    ];
  } finally {
    await shop.close();
  }
}

async function median(
  shop: Shop,
  id: string,
  visits: number,
  speed?: 'slow',
): Promise<Record<string, number | string>> {
  const loads: Load[] = [];
  for (let visit = 0; visit < visits; visit += 1) loads.push(await load(shop, id, speed));
  const middle = (field: keyof Load): number => {
    const sorted = loads.map((one) => one[field]).sort((one, other) => one - other);
    return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
  };
  const [requests, bytes, usableMs] = [middle('requests'), middle('bytes'), middle('usableMs')];
  const holds = requests <= MOST_REQUESTS && bytes <= MOST_BYTES && usableMs <= USABLE_MS;
  return {
    requests,
    'bytes transferred': bytes,
    'ms to readable text': middle('readableMs'),
    'ms to a wallet to press': usableMs,
    'within 3 requests, 24 KB, 5 s': holds ? 'yes' : 'NO',
  };
}

async function load(shop: Shop, id: string, speed: 'slow' | undefined): Promise<Load> {
  let transfer: Transfer | undefined;
  const visitor = await shop.visitPage(id, {
    wallets: [evmWallet()],
    prepare: async (page) => {
      page.setDefaultNavigationTimeout(PATIENCE_MS);
      await page.addInitScript(NOTE_WHEN_USABLE);
      transfer = await countTransfer(page);
      if (speed === 'slow') await slowDown(page);
    },
  });
  await visitor.page.locator('#wallets button').first().waitFor({ timeout: PATIENCE_MS });
  const readableMs = await visitor.page.evaluate(
    'performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now()',
  );
  const usableMs = await visitor.page.evaluate('window.usableAt');
  await visitor.leave();
  if (transfer === undefined) throw new Error('nothing was counted');
  return { ...transfer, readableMs: Number(readableMs), usableMs: Number(usableMs) };
}
