import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { chromiumPath } from './chromium-path.js';

/** Pages of Chromium. Each is a buyer of its own: nothing is shared between their contexts. */
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

/** All who have one open at the same time have the same Chromium, which ends with the last of them. */
let shared: { browser: Promise<Browser>; users: number } | undefined;

export async function launchBrowser(): Promise<TestBrowser> {
  shared ??= { browser: launch(), users: 0 };
  const own = shared;
  own.users += 1;
  const browser = await own.browser;
  const contexts: BrowserContext[] = [];
  return {
    async open(options = {}) {
      const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', ...options });
      contexts.push(context);
      const page = await context.newPage();
      const problems: string[] = [];
      watch(page, problems);
      return { page, problems };
    },
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
      own.users -= 1;
      if (own.users > 0) return;
      shared = undefined;
      await browser.close();
    },
  };
}

async function launch(): Promise<Browser> {
  try {
    return await chromium.launch({ executablePath: chromiumPath(), headless: true, args: FLAGS });
  } catch (error) {
    shared = undefined;
    throw error;
  }
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
