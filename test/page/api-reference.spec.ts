import assert from 'node:assert/strict';
import { openApiDocument } from '../../api/openapi/document.js';
import type { BrowserPage } from '../../lab/world/page/browser.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildMerchant, buildPaidSession } from '../../lab/world/shop/factories.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { openBrowser } from '../support/page/shop.js';
import { openReferenceApp } from '../support/reference-app.js';

interface Operation {
  operationId: string;
  summary: string;
}

const { paths } = openApiDocument('https://pay.example') as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, summary }]) => ({
    id: operationId,
    shown: { path, method: method.toUpperCase(), summary },
  })),
);

describe('the API reference', function () {
  this.timeout(900_000);
  const browser = forAllTests(openBrowser);
  const app = forAllTests(openTestApp);
  const reference = forAllTests(() => openReferenceApp(app));
  let opened: BrowserPage;
  const requested = new Set<string>();
  before(async () => {
    opened = await browser.open({ colorScheme: 'light' });
    const { page } = opened;
    await page.addInitScript(
      "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))",
    );
    page.on('request', (made) => {
      const { protocol, origin, pathname } = new URL(made.url());
      if (protocol !== 'data:') requested.add(`${origin}${pathname.replace(/\.[\w-]{10}\./, '.….')}`);
    });
    await page.goto(`${reference.url}/docs`);
    await page.locator('.opblock').first().waitFor();
  });
  afterEach(() => assert.deepEqual(opened.problems, []));

  /** Evaluates a script in the page, since Playwright would inspect the whole page before each step. */
  const inPage = (script: string, id: string): Promise<unknown> =>
    opened.page.evaluate(`(${script})(document.querySelector('[id$="-${id}"].opblock'))`);

  it('sends requests only to its own host', async () => {
    await opened.page.waitForLoadState('networkidle');
    assert.deepEqual(
      [...requested].sort(),
      ['/docs', '/docs/assets/reference.….css', '/docs/assets/reference.….js', '/openapi.json'].map(
        (path) => reference.url + path,
      ),
    );
  });

  it('follows the preferred colour scheme', async () => {
    for (const colorScheme of ['light', 'dark', 'light'] as const) {
      await opened.page.emulateMedia({ colorScheme });
      await eventually(async () => {
        const shown = await opened.page.evaluate<string>(
          'getComputedStyle(document.documentElement).colorScheme',
        );
        assert.equal(shown.includes('dark'), colorScheme === 'dark', shown);
      });
    }
  });

  it('tries out an operation with a key', async () => {
    const shop = await buildMerchant(app.db);
    const { session } = await buildPaidSession(app.db, shop.accountId);
    const { page } = opened;
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    const dialog = page.locator('.dialog-ux');
    await dialog.locator('input').first().fill(shop.testKey);
    await dialog
      .getByRole('button', { name: /Apply credentials|^Authorize$/ })
      .first()
      .click();
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    const block = page.locator('[id$="-listPayments"].opblock');
    await block.locator('.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Try it out' }).click();
    await block.getByRole('button', { name: 'Execute' }).click();
    await block.locator('.live-responses-table').getByText(session.id).waitFor();
    await block.locator('.opblock-summary-control').click();
  });

  it('shows every operation of the document, and the details of two', async () => {
    const { page } = opened;
    assert.ok(operations.length >= 12);
    for (const { id, shown } of operations) assert.deepEqual(await inPage(SUMMARY, id), shown);
    for (const id of ['createWebhookEndpoint', 'payLink']) await inPage(OPEN_AND_CLOSE, id);
    await page.getByText('checkout.session.completed').first().waitFor();
  });

  it('shows an error when the document cannot be loaded', async () => {
    const { page } = await browser.open();
    await page.route('**/openapi.json', (route) => route.abort());
    await page.goto(`${reference.url}/docs`);
    await page.getByRole('alert').getByText('cannot be shown here').waitFor();
  });
});

/** Returns the text of an operation. Swagger UI inserts invisible line breaks into long paths. */
const SUMMARY = `(block) => {
  const text = (name) => block.querySelector('.opblock-summary-' + name).textContent;
  return { path: text('path').replaceAll('\u200b', ''), method: text('method'), summary: text('description') };
}`;

/** Waits for the responses of an operation, and closes it again, since open operations slow down each step. */
const OPEN_AND_CLOSE = `async (block) => {
  const isOpen = () => block.querySelector('.responses-wrapper')?.checkVisibility() ?? false;
  for (const wanted of [true, false]) {
    block.querySelector('.opblock-summary-control').click();
    while (isOpen() !== wanted) await new Promise(requestAnimationFrame);
  }
}`;
