import type { Page } from 'playwright-core';

/** Requests of a page and their transferred bytes, without polling. */
export interface Transfer {
  requests: number;
  bytes: number;
}

/** 400 kbit/s in both directions, and a CPU slowed down by SLOWDOWN. */
const SLOW_3G = { offline: false, downloadThroughput: 50_000, uploadThroughput: 50_000 };
const SLOWDOWN = 4;

/** Call before opening the page. */
export async function countTransfer(page: Page): Promise<Transfer> {
  const counted: Transfer = { requests: 0, bytes: 0 };
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const counting = new Set<string>();
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (request.url.startsWith('http') && !request.url.endsWith('/status')) counting.add(requestId);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!counting.has(requestId)) return;
    counted.requests += 1;
    counted.bytes += encodedDataLength;
  });
  return counted;
}

/** `latency`: milliseconds before the answer to each request. */
export async function slowDown(page: Page, latency: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', { ...SLOW_3G, latency });
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
}
