import assert from 'node:assert/strict';
import { brotliCompressSync } from 'node:zlib';
import type { Page, Route } from 'playwright-core';
import request from 'supertest';
import { buildMerchant, buildPaidSession } from '../../lab/world/shop/factories.js';
import { createApiKey, revokeApiKey } from '../../shared/accounts/api-keys.js';
import { disableAccount } from '../../shared/accounts/disable.js';
import { withResolvers } from '../../shared/process/with-resolvers.js';
import { openTestApp } from '../support/app.js';
import { openStage } from '../support/dashboard/stage.js';
import { forAllTests } from '../support/hooks.js';
import { scrollsSideways, violations } from '../support/page/accessibility.js';

const IN_STORAGE = 'JSON.stringify({ ...sessionStorage })';
const ELSEWHERE = 'JSON.stringify([{ ...localStorage }, document.cookie, location.href, history.state])';

describe('the dashboard', () => {
  const stage = forAllTests(openStage);

  it('serves one document that nothing may frame, index or add code to, and assets that are kept', async () => {
    const page = await request(stage.app.server).get('/dashboard').expect(200);
    const policy = String(page.headers['content-security-policy']);
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"])
      assert.ok(policy.split('; ').includes(rule), policy);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.equal(page.headers['x-robots-tag'], 'noindex, nofollow');
    assert.equal(page.headers['set-cookie'], undefined);
    assert.match(page.text, /<meta name="robots" content="noindex, nofollow">/);
    assert.doesNotMatch(page.text, /<style|<script(?! src=)|style=|https?:/);
    const assets = [...page.text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    assert.equal(assets.length, 2);
    let bytes = brotliCompressSync(page.text).length;
    for (const path of assets) {
      const asset = await request(stage.app.server).get(path).set('Accept-Encoding', 'identity').expect(200);
      assert.equal(asset.headers['cache-control'], 'public, max-age=31536000, immutable');
      const packed = await request(stage.app.server).get(path).set('Accept-Encoding', 'br').expect(200);
      assert.equal(packed.headers['content-encoding'], 'br');
      bytes += Number(packed.headers['content-length']);
      await request(stage.app.server).get(`${path}.br`).expect(404);
    }
    assert.ok(bytes < 120 * 1024, `${bytes} bytes`);
  });

  it('does not exist when it is turned off', async () => {
    const app = await openTestApp({ DASHBOARD: 'false' });
    try {
      await request(app.server).get('/dashboard').expect(404);
    } finally {
      await app.close();
    }
  });

  it('keeps a pasted key in its tab only, and sends it in a header only', async () => {
    const { testKey } = stage.merchant;
    const tab = await stage.visit(undefined);
    const { page } = tab;
    const addresses: string[] = [];
    page.context().on('request', (sent) => addresses.push(sent.url()));
    await tab.sees('Sign in to the dashboard');
    await page.getByLabel('Checkout key').fill(` ${testKey} `);
    await page.keyboard.press('Enter');
    await tab.sees('Overview');
    await page.getByText('Test data').waitFor();
    assert.match(String(await page.evaluate(IN_STORAGE)), new RegExp(testKey));
    assert.doesNotMatch(String(await page.evaluate(ELSEWHERE)), new RegExp(testKey));
    assert.deepEqual(
      addresses.filter((address) => address.includes(testKey)),
      [],
    );
    await page.reload();
    await tab.sees('Overview');
    const other = await page.context().newPage();
    await other.goto(stage.url);
    await other.getByRole('heading', { name: 'Sign in to the dashboard' }).waitFor();
    await tab.press('Sign out');
    await tab.sees('Sign in to the dashboard');
    assert.equal(await page.evaluate(IN_STORAGE), '{}');
    await tab.leave(404);
  });

  it('says what is wrong with a key', async () => {
    const tab = await stage.visit(undefined);
    const input = tab.page.getByLabel('Checkout key');
    await input.fill('sk_live_1234');
    await tab.press('Sign in');
    await tab.page.getByRole('alert').getByText('begins with svc_ck_live_').waitFor();
    await input.fill(`${stage.merchant.testKey.slice(0, -1)}!`);
    await input.fill(`svc_ck_test_${'a'.repeat(40)}`);
    await tab.press('Sign in');
    await tab.page.getByRole('alert').getByText('This key is not known').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await tab.page.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(tab.page), [], colorScheme);
    }
    await tab.page.setViewportSize({ width: 360, height: 640 });
    assert.equal(await scrollsSideways(tab.page), false);
    await tab.leave(401);
  });

  it('leads back with one sentence when the key is deleted, and goes on at the same screen', async () => {
    const { db } = stage.app;
    const { accountId, liveKey } = stage.merchant;
    const { key, secret } = await createApiKey(db, { accountId, livemode: false, name: 'Short' });
    const tab = await stage.visit(secret, '#/payments');
    await tab.sees('Payments');
    await revokeApiKey(db, key.id);
    await tab.page
      .getByRole('alert')
      .getByText('This key was deleted, or its account is disabled.')
      .waitFor();
    assert.doesNotMatch(String(await tab.page.evaluate(IN_STORAGE)), new RegExp(secret));
    await tab.page.getByLabel('Checkout key').fill(liveKey);
    await tab.press('Sign in');
    await tab.sees('Payments');
    await tab.page.getByText('Live data').waitFor();
    await tab.leave(401);
  });

  it('calls no key of a disabled account unknown or certainly deleted, and names the operator', async () => {
    const { db } = stage.app;
    const { accountId, testKey, liveKey } = await buildMerchant(db);
    const tab = await stage.visit(testKey, '#/payments');
    await tab.sees('Payments');
    await disableAccount(db, accountId);
    await tab.page.getByRole('alert').getByText('or its account is disabled').waitFor();
    await tab.page.getByLabel('Checkout key').fill(liveKey);
    await tab.press('Sign in');
    await tab.page.getByRole('alert').getByText('when none works, ask the operator').waitFor();
    assert.equal(await tab.page.getByText('This key is not known').count(), 0);
    await tab.leave(401);
  });

  it('takes a key out of the address, and signs in by it in a sandbox only', async () => {
    const { testKey } = stage.merchant;
    const tab = await stage.visit(undefined, `#sign-in=${testKey}`);
    await tab.sees('Sign in to the dashboard');
    assert.doesNotMatch(String(await tab.page.evaluate(ELSEWHERE)), /sign-in=|svc_ck/);
    assert.equal(await tab.page.evaluate(IN_STORAGE), '{}');
    await tab.leave();
  });

  it('leaves a new sign-in alone when an answer to the earlier key arrives', async () => {
    const { testKey, liveKey } = stage.merchant;
    const tab = await stage.visit(undefined);
    const { page } = tab;
    const signIn = async (key: string): Promise<void> => {
      await page.getByLabel('Checkout key').fill(key);
      await tab.press('Sign in');
    };
    const access = await holdAnswer(page, '**/v1/keys?limit=100');
    const days = await holdAnswer(page, '**/v1/reports/daily?*');
    await signIn(testKey);
    await Promise.all([access.asked, days.asked]);
    await tab.press('Sign out');
    await signIn(liveKey);
    await page.getByText('Live data').waitFor();
    await access.answer(200, {
      data: [{ id: 'ck_1', name: 'Book-keeper', access: 'read' }],
      has_more: false,
    });
    await days.answer(401, { error: { code: 'api_key_invalid', message: 'No such key.' } });
    await tab.sees('Overview');
    assert.equal(await page.getByText('This key can only read').count(), 0);
    assert.match(String(await page.evaluate(IN_STORAGE)), new RegExp(liveKey));
    await tab.leave(401, 404);
  });

  it('is not signed in again by the way back to a page that the browser kept', async () => {
    const tab = await stage.visit(stage.merchant.testKey, '#/payments');
    await tab.sees('Payments');
    // Another document of the tab has signed out meanwhile.
    await tab.page.evaluate(`sessionStorage.removeItem('checkout-key');
      dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));`);
    await tab.sees('Sign in to the dashboard');
    await tab.leave();
  });

  it('shows live data to a live key and test data to a test key', async () => {
    const { accountId, liveKey, testKey } = stage.merchant;
    const { payment } = await buildPaidSession(stage.app.db, accountId, { livemode: true, amountCents: 777 });
    const live = await stage.visit(liveKey, '#/payments');
    await live.page.getByRole('cell', { name: '$7.77' }).waitFor();
    assert.match(await live.page.title(), /live data$/);
    await live.leave();
    const test = await stage.visit(testKey, `#/payments/${payment.id}`);
    await test.page.getByText('Nothing with this id is in the data of this key.').waitFor();
    assert.match(await test.page.title(), /test data$/);
    await test.leave(404);
  });

  it('asks nothing while its tab is hidden, and everything when it is seen again', async () => {
    const tab = await stage.visit(stage.merchant.testKey, '#/payments');
    const { page } = tab;
    await page.clock.install();
    await page.reload();
    await page.getByText('No payments yet.').waitFor();
    const hide = (isHidden: boolean): Promise<unknown> =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));`);
    await hide(true);
    let asked = 0;
    page.on('request', () => {
      asked += 1;
    });
    await page.clock.runFor(60_000);
    assert.equal(asked, 0);
    await buildPaidSession(stage.app.db, stage.merchant.accountId, { amountCents: 1234 });
    await hide(false);
    await page.getByRole('cell', { name: '$12.34' }).waitFor();
    await tab.leave();
  });
});

describe("a sandbox's dashboard", () => {
  const stage = forAllTests(() => openStage({ PAGE_SCRIPT_URL: 'http://127.0.0.1:1/wallets.js' }));

  it('takes a test key out of the address, and never a live key', async () => {
    const { testKey, liveKey } = stage.merchant;
    const tab = await stage.visit(undefined, `#sign-in=${testKey}`);
    await tab.sees('Overview');
    assert.doesNotMatch(String(await tab.page.evaluate(ELSEWHERE)), /sign-in=|svc_ck/);
    await tab.page.goBack().catch(() => null);
    assert.doesNotMatch(tab.page.url(), /svc_ck/);
    await tab.leave(404);
    const other = await stage.visit(undefined, `#sign-in=${liveKey}`);
    await other.sees('Sign in to the dashboard');
    assert.doesNotMatch(other.page.url(), /svc_ck/);
    await other.goTo(`#sign-in=${testKey}`);
    await other.sees('Overview');
    assert.doesNotMatch(other.page.url(), /svc_ck/);
    await other.leave(404);
  });

  it('keeps the key of the tab when the address has another', async () => {
    const { testKey, liveKey } = stage.merchant;
    const tab = await stage.visit(liveKey, `#sign-in=${testKey}`);
    await tab.page.getByText('Live data').waitFor();
    await tab.goTo(`#sign-in=${testKey}`);
    await tab.page.waitForURL(stage.url);
    await tab.page.reload();
    await tab.page.getByText('Live data').waitFor();
    assert.match(String(await tab.page.evaluate(IN_STORAGE)), new RegExp(liveKey));
    await tab.leave(404);
  });
});

interface HeldAnswer {
  /** Resolves when the request was sent. */
  asked: Promise<void>;
  answer(status: number, body: object): Promise<void>;
}

/** Keeps the page's next request there without an answer. */
async function holdAnswer(page: Page, address: string): Promise<HeldAnswer> {
  const { promise: held, resolve: take } = withResolvers<Route>();
  let isFirst = true;
  await page.route(address, async (route) => {
    if (!isFirst) return await route.fallback();
    isFirst = false;
    take(route);
  });
  return {
    asked: held.then(() => {}),
    async answer(status, body) {
      const response = page.waitForResponse(address);
      await (await held).fulfill({ status, json: body });
      await response;
      // The page has read it when it has done its other work. Chromium does not always tell that the body is read.
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))');
    },
  };
}
