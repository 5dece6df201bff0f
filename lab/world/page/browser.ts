import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Page,
} from 'playwright-core';
import { chromiumPath } from '../processes/chromium-path.js';

/** Pages of Chromium, each in a context of its own while it is open, so that nothing is shared. */
export interface TestBrowser {
  /**
   * Animations stand still unless the options say otherwise, since each of their frames would be drawn. A context whose page was
   * closed is emptied and serves the next page with the same options, since a new one takes half of a visit's processor time.
   */
  open(options?: BrowserContextOptions): Promise<BrowserPage>;
  close(): Promise<void>;
}

export interface BrowserPage {
  page: Page;
  /** Errors in the console, policy violations, and requests to other hosts. */
  problems: string[];
  /** Closes the page, and every other one in its context. */
  close(): Promise<void>;
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-sync',
  // Contexts have separate processes anyway; these prevent spare ones, and a process for each page of a context.
  '--renderer-process-limit=1',
  '--disable-site-isolation-trials',
  // Neither drawing nor starting such a process needs a process of its own.
  '--in-process-gpu',
  '--no-zygote',
];

const HAS_OWN_TIMERS = "String(setTimeout).includes('[native code]')";

/** A single Chromium is shared by all open browsers; it ends with the last of them. */
let shared: { browser: Promise<Browser>; users: number } | undefined;

export async function launchBrowser(): Promise<TestBrowser> {
  shared ??= { browser: launch(), users: 0 };
  const own = shared;
  own.users += 1;
  const browser = await own.browser;
  const contexts: BrowserContext[] = [];
  const free = new Map<string, Reusable[]>();
  return {
    async open(options = {}) {
      const key = JSON.stringify(options);
      const unused = free.get(key) ?? [];
      free.set(key, unused);
      const reusable = unused.pop() ?? (await openReusable(browser, options, contexts));
      const page = await reusable.context.newPage();
      const problems: string[] = [];
      watch(page, problems);
      const origins = new Set<string>();
      page.on('framenavigated', (frame) => origins.add(new URL(frame.url()).origin));
      return {
        page,
        problems,
        async close() {
          if (await empty(reusable, origins)) unused.push(reusable);
        },
      };
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

/** A context with a blank page, which keeps its process alive between two visits. */
interface Reusable {
  context: BrowserContext;
  blank: Page;
  debug: CDPSession;
}

async function openReusable(
  browser: Browser,
  options: BrowserContextOptions,
  contexts: BrowserContext[],
): Promise<Reusable> {
  const context = await browser.newContext({
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    ...options,
  });
  contexts.push(context);
  const blank = await context.newPage();
  return { context, blank, debug: await context.newCDPSession(blank) };
}

/** Returns false for a context that it has closed: a clock that a page has installed stays with its context. */
async function empty({ context, blank, debug }: Reusable, origins: Set<string>): Promise<boolean> {
  const pages = context.pages().filter((page) => page !== blank);
  await Promise.all(pages.map((page) => page.close()));
  if (!(await blank.evaluate(HAS_OWN_TIMERS))) {
    await context.close();
    return false;
  }
  await Promise.all([
    context.clearCookies(),
    context.clearPermissions(),
    context.setOffline(false),
    ...[...origins]
      .filter((origin) => origin.startsWith('http'))
      .map((origin) => debug.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })),
    debug.send('Network.clearBrowserCache'),
  ]);
  return true;
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
