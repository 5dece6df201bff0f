import type { Page } from 'playwright-core';

/** What a page asks for and what comes over the wire for it, but for its questions of how the session stands. */
export interface Transfer {
  requests: number;
  bytes: number;
}

/** What DevTools calls slow 3G, and a phone a quarter as fast as this machine. */
const SLOW_3G = { offline: false, latency: 2000, downloadThroughput: 50_000, uploadThroughput: 50_000 };
const SLOWDOWN = 4;

/** Before the page is opened. */
export async function countTransfer(page: Page): Promise<Transfer> {
  const counted: Transfer = { requests: 0, bytes: 0 };
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const asked = new Set<string>();
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (request.url.startsWith('http') && !request.url.endsWith('/status')) asked.add(requestId);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!asked.has(requestId)) return;
    counted.requests += 1;
    counted.bytes += encodedDataLength;
  });
  return counted;
}

export async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', SLOW_3G);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
}
