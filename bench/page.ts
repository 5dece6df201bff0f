import type { Page } from 'playwright-core';
import { newId } from '../shared/ids.js';
import { openShop, type Shop } from '../test/support/page/shop.js';
import { lendServices } from '../test/support/suite.js';
import type { Row } from './benchmark.js';
import type { BenchServices } from './services.js';

/** First visits, of which the median counts. */
const VISITS = 15;
const PATIENCE_MS = 10_000;

interface Load {
  requests: number;
  bytes: number;
  readableMs: number;
  payableMs: number;
}

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
      { page: 'one item', ...(await median(shop, one.id)) },
      { page: '100 items', ...(await median(shop, many.id)) },
    ];
  } finally {
    await shop.close();
  }
}

async function median(shop: Shop, id: string): Promise<Record<string, number>> {
  const loads: Load[] = [];
  for (let visit = 0; visit < VISITS; visit += 1) loads.push(await load(shop, id));
  const middle = (field: keyof Load): number => {
    const sorted = loads.map((one) => one[field]).sort((one, other) => one - other);
    return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
  };
  return {
    requests: middle('requests'),
    'bytes transferred': middle('bytes'),
    'ms to readable text': middle('readableMs'),
    'ms to script ready': middle('payableMs'),
  };
}

async function load(shop: Shop, id: string): Promise<Load> {
  const measured = { requests: 0, bytes: 0 };
  const visitor = await shop.visitPage(id, { prepare: (page) => count(page, measured) });
  await visitor.page.locator('.field:not([hidden])').waitFor({ timeout: PATIENCE_MS });
  const readableMs = await visitor.page.evaluate(
    'performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now()',
  );
  const payableMs = await visitor.page.evaluate(
    'performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd',
  );
  await visitor.leave();
  return { ...measured, readableMs: Number(readableMs), payableMs: Number(payableMs) };
}

/** Before the page asks for its state for the first time. */
async function count(page: Page, measured: { requests: number; bytes: number }): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const asked = new Map<string, string>();
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (request.url.startsWith('http') && !request.url.endsWith('/status')) asked.set(requestId, request.url);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!asked.has(requestId)) return;
    measured.requests += 1;
    measured.bytes += encodedDataLength;
  });
}
