import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { chromiumPath } from '../processes/chromium-path.js';

/** Pages of Chromium, each in its own context, so that nothing is shared. */
export interface TestBrowser {
  open(options?: BrowserContextOptions): Promise<BrowserPage>;
  close(): Promise<void>;
}

export interface BrowserPage {
  page: Page;
  /** Errors in the console, policy violations, and requests to other hosts. */
  problems: string[];
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-sync',
  // Contexts have separate processes anyway; this prevents spare ones.
  '--renderer-process-limit=1',
];

/** One Chromium is shared by all that are open at a time; it ends with the last one. */
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
