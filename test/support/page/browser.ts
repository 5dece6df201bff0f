import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { chromiumPath } from './chromium-path.js';

/** One Chromium for a spec file. Each page is a buyer of its own: nothing is shared between their contexts. */
export interface TestBrowser {
  open(options?: BrowserContextOptions): Promise<BrowserPage>;
  close(): Promise<void>;
}

export interface BrowserPage {
  page: Page;
  /** What went wrong in it: errors in the console, violations of its policy, requests to anyone else. */
  problems: string[];
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-sync',
  // Contexts never share a process, so they have one each all the same; but none is started in advance.
  '--renderer-process-limit=1',
];

export async function launchBrowser(): Promise<TestBrowser> {
  const browser: Browser = await chromium.launch({
    executablePath: chromiumPath(),
    headless: true,
    args: FLAGS,
  });
  return {
    async open(options = {}) {
      const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', ...options });
      const page = await context.newPage();
      const problems: string[] = [];
      watch(page, problems);
      return { page, problems };
    },
    close: () => browser.close(),
  };
}

function watch(page: Page, problems: string[]): void {
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    const isOurs = url.protocol === 'data:' || url.hostname === '127.0.0.1';
    const isLeaving = request.isNavigationRequest();
    if (!isOurs && !isLeaving) problems.push(`asked ${url.origin}`);
  });
}
