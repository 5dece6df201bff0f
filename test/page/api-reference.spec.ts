import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { openApiDocument } from '../../api/openapi/document.js';
import { type BrowserPage, type TestBrowser } from '../../lab/world/page/browser.js';
import { buildMerchant, buildPaidSession } from '../../lab/world/shop/factories.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { openReferenceApp, type ReferenceApp } from '../support/reference-app.js';

interface Operation {
  operationId: string;
  summary: string;
}

const { paths } = openApiDocument('https://pay.example') as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, summary }]) => ({
    path,
    method,
    operationId,
    summary,
  })),
);

describe('the API reference', function () {
  this.timeout(240_000);
  let app: TestApp;
  let reference: ReferenceApp;
  let browser: TestBrowser;
  before(async () => {
    app = await openTestApp();
    [reference, browser] = await Promise.all([openReferenceApp(app), launchBrowser()]);
  });
  after(async () => {
    await browser.close();
    await reference.close();
    await app.close();
  });

  async function open(options = {}): Promise<BrowserPage> {
    const opened = await browser.open(options);
    await opened.page.addInitScript(
      "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))",
    );
    await opened.page.goto(`${reference.url}/docs`);
    await opened.page.locator('.opblock').first().waitFor();
    return opened;
  }

  async function leave({ page, problems }: BrowserPage): Promise<void> {
    await page.context().close();
    assert.deepEqual(problems, []);
  }

  const operation = (page: Page, id: string) => page.locator(`[id$="-${id}"].opblock`);

  it('shows every operation of the document, and its details', async () => {
    const opened = await open();
    const { page } = opened;
    assert.ok(operations.length >= 12);
    for (const { path, method, operationId, summary } of operations) {
      const shown = await page.evaluate(`(${OPEN_AND_CLOSE})('${operationId}')`);
      assert.deepEqual(shown, { path, method: method.toUpperCase(), summary });
    }
    await page.getByText('checkout.session.completed').first().waitFor();
    await leave(opened);
  });

  it('sends requests only to its own host', async () => {
    const opened = await browser.open();
    const requested = new Set<string>();
    opened.page.on('request', (made) => {
      const { protocol, origin, pathname } = new URL(made.url());
      if (protocol !== 'data:') requested.add(`${origin}${pathname.replace(/\.[\w-]{10}\./, '.….')}`);
    });
    await opened.page.goto(`${reference.url}/docs`);
    await opened.page.locator('.opblock').first().waitFor();
    await opened.page.waitForLoadState('networkidle');
    assert.deepEqual(
      [...requested].sort(),
      ['/docs', '/docs/assets/reference.….css', '/docs/assets/reference.….js', '/openapi.json'].map(
        (path) => reference.url + path,
      ),
    );
    await leave(opened);
  });

  it('tries out an operation with a key', async () => {
    const shop = await buildMerchant(app.db);
    const { session } = await buildPaidSession(app.db, shop.accountId);
    const opened = await open();
    const { page } = opened;
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    const dialog = page.locator('.dialog-ux');
    await dialog.locator('input').first().fill(shop.testKey);
    await dialog
      .getByRole('button', { name: /Apply credentials|^Authorize$/ })
      .first()
      .click();
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    const block = operation(page, 'listPayments');
    await block.locator('.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Try it out' }).click();
    await block.getByRole('button', { name: 'Execute' }).click();
    await block.locator('.live-responses-table').getByText(session.id).waitFor();
    await leave(opened);
  });

  it('follows the preferred colour scheme', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const opened = await open({ colorScheme });
      const background = await opened.page.evaluate<string>(
        "getComputedStyle(document.querySelector('.swagger-ui')).backgroundColor + getComputedStyle(document.documentElement).colorScheme",
      );
      assert.equal(/dark/.test(background), colorScheme === 'dark', background);
      await leave(opened);
    }
  });

  it('shows an error when the document cannot be loaded', async () => {
    const opened = await browser.open();
    await opened.page.route('**/openapi.json', (route) => route.abort());
    await opened.page.goto(`${reference.url}/docs`);
    await opened.page.getByRole('alert').getByText('cannot be shown here').waitFor();
    await opened.page.context().close();
  });
});

/**
 * Returns the text of an operation, which is opened and closed again, since open operations slow down each step.
 * Evaluated in the page, since Playwright would inspect the whole page before each step.
 */
const OPEN_AND_CLOSE = `async (id) => {
  const block = document.querySelector('[id$="-' + id + '"].opblock');
  const text = (name) => block.querySelector('.opblock-summary-' + name).textContent;
  const isOpen = () => block.querySelector('.responses-wrapper')?.checkVisibility() ?? false;
  block.querySelector('.opblock-summary-control').click();
  while (!isOpen()) await new Promise(requestAnimationFrame);
  // Swagger UI inserts invisible line breaks into long paths.
  const shown = { path: text('path').replaceAll('\u200b', ''), method: text('method'), summary: text('description') };
  block.querySelector('.opblock-summary-control').click();
  while (isOpen()) await new Promise(requestAnimationFrame);
  return shown;
}`;
