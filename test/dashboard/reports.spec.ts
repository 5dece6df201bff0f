import assert from 'node:assert/strict';
import { buildMerchant, buildPaidSession, buildRefund } from '../../lab/world/shop/factories.js';
import { createApiKey } from '../../shared/accounts/api-keys.js';
import { openStage } from '../support/dashboard/stage.js';
import { forAllTests } from '../support/hooks.js';
import { scrollsSideways, violations } from '../support/page/accessibility.js';
import { layoutShift, watchLayout } from '../support/page/layout-shift.js';

const DAY_MS = 86_400_000;
const READ_ONLY: object = { access: 'read' };
const IS_DRAWN = `(() => {
  const canvas = document.querySelector('.chart canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value) => value !== 0);
})()`;

/** Notes each text on a canvas that begins or ends outside it. */
const NOTE_CUT_TEXTS = `
  window.cutTexts = [];
  window.drawnTexts = 0;
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right } = this.measureText(text);
    const at = this.getTransform().transformPoint({ x, y }).x;
    if (at - left < 0 || at + right > this.canvas.width) window.cutTexts.push(text);
    window.drawnTexts += 1;
    fillText.call(this, text, x, y);
  };`;

describe('the overview of the dashboard', () => {
  const stage = forAllTests(openStage);
  const merchant = forAllTests(() => buildMerchant(stage.app.db));
  before(async () => {
    const paid = async (daysAgo: number, amountCents: number, token: 'USDC' | 'USDT'): Promise<void> => {
      const settledAt = new Date(Date.now() - daysAgo * DAY_MS);
      await buildPaidSession(stage.app.db, merchant.accountId, { amountCents, token, settledAt });
    };
    await paid(0, 1000, 'USDC');
    await paid(1, 250, 'USDC');
    await paid(1, 125, 'USDT');
    await paid(20, 4000, 'USDT');
    await paid(60, 50_000, 'USDC');
  });

  it('shows what was paid per day as a chart and as a table', async () => {
    const dark = { viewport: { width: 390, height: 800 }, colorScheme: 'dark' } as const;
    const tab = await stage.visit(merchant.testKey, '#/', dark);
    const { page } = tab;
    await watchLayout(page);
    await page.reload();
    await page.getByText('$53.75').waitFor();
    await page.getByText('in 4 payments').waitFor();
    await page.getByRole('img', { name: /Bars of the amount paid on each of 30 days/ }).waitFor();
    assert.equal(await page.evaluate(IS_DRAWN), true);
    assert.deepEqual(await page.locator('.legend li').allTextContents(), [' USDC', ' USDT']);
    assert.ok((await layoutShift(page)) < 0.02, String(await page.evaluate('window.layoutShifts')));
    assert.deepEqual(await violations(page), []);
    await page.getByRole('button', { name: 'Show as a table' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: '$40.00' }).waitFor();
    assert.equal(await page.locator('tbody tr').count(), 4);
    assert.deepEqual(await violations(page), []);
    assert.equal(await scrollsSideways(page), false);
    await page.keyboard.press('Enter');
    await page.locator('.chart canvas').waitFor();
    await tab.leave();
  });

  it('keeps the colours of the legend, and one marked screen, where the system forces its own colours', async () => {
    const tab = await stage.visit(merchant.testKey, '#/', { forcedColors: 'active' });
    const { page } = tab;
    await page.locator('.legend li').nth(1).waitFor();
    const colours = `[...document.querySelectorAll('.swatch')].map((one) => getComputedStyle(one).backgroundColor)`;
    assert.equal(new Set((await page.evaluate(colours)) as string[]).size, 2);
    const marked = `[...document.querySelectorAll('nav a')]
      .filter((one) => getComputedStyle(one).borderBottomStyle !== 'none').map((one) => one.textContent)`;
    assert.deepEqual(await page.evaluate(marked), ['Overview']);
    await tab.leave();
  });

  it('tells of money for links that were paid already, which the sums are without', async () => {
    const shop = await buildMerchant(stage.app.db);
    const { payment } = await buildPaidSession(stage.app.db, shop.accountId, { amountCents: 775 });
    await payment.$query(stage.app.db).patch({ surplus: true });
    const tab = await stage.visit(shop.testKey, '#/');
    const { page } = tab;
    await page.getByText(/^(\$7\.75 more came|Nothing was paid)/).waitFor();
    assert.equal(await page.getByText('$7.75 more came for links that were paid already.').count(), 1);
    await page.getByText('in 0 payments').waitFor();
    assert.deepEqual(await violations(page), []);
    await page.getByRole('button', { name: 'Show as a table' }).click();
    await tab.leave();
  });

  it('shows 7, 30 or 90 days, and draws a new payment by itself', async () => {
    const tab = await stage.visit(merchant.testKey, '#/');
    const { page } = tab;
    await page.getByLabel('Days', { exact: true }).selectOption('7 days');
    await page.getByText('$13.75').waitFor();
    await page.getByLabel('Days', { exact: true }).selectOption('90 days');
    await page.getByText('$553.75').waitFor();
    await buildPaidSession(stage.app.db, merchant.accountId, { amountCents: 100_000 });
    await page.getByText('$1,553.75').waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.equal(await page.evaluate(IS_DRAWN), true);
    await tab.leave();
  });

  for (const [amountCents, width] of [
    [5_500_000, 1280],
    [99_999_999, 360],
  ] as const)
    it(`writes no amount beyond the chart's edge, at ${width}`, async () => {
      const { accountId, testKey } = await buildMerchant(stage.app.db);
      await buildPaidSession(stage.app.db, accountId, { amountCents, settledAt: new Date() });
      const tab = await stage.visit(undefined, '#/', { viewport: { width, height: 800 } });
      await tab.page.addInitScript(NOTE_CUT_TEXTS);
      await tab.page.addInitScript(`sessionStorage.setItem('checkout-key', '${testKey}')`);
      await tab.page.reload();
      await tab.page.locator('.chart canvas').waitFor();
      await tab.page.waitForFunction('window.drawnTexts > 5');
      assert.deepEqual(await tab.page.evaluate('window.cutTexts'), []);
      await tab.leave();
    });

  it("asks for days of the browser's time zone", async () => {
    const tab = await stage.visit(merchant.testKey, '#/keys', { timezoneId: 'Pacific/Auckland' });
    const asked = tab.page.waitForRequest('**/v1/reports/daily?*');
    await tab.goTo('#/');
    const query = new URL((await asked).url()).searchParams;
    assert.equal(query.get('timezone'), 'Pacific/Auckland');
    const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Pacific/Auckland' }).format(Date.now());
    assert.equal(query.get('to'), today);
    await tab.page.getByText('Paid per day').waitFor();
    await tab.leave();
  });

  for (const nameless of ['Etc/Unknown', '+03:00'])
    it(`asks for days of UTC in a browser whose time zone is ${nameless}`, async () => {
      const tab = await stage.visit(merchant.testKey, '#/keys');
      const { page } = tab;
      await page.addInitScript(`
        const { resolvedOptions } = Intl.DateTimeFormat.prototype;
        Intl.DateTimeFormat.prototype.resolvedOptions = function () {
          return { ...resolvedOptions.call(this), timeZone: '${nameless}' };
        };`);
      await page.reload();
      const asked = page.waitForRequest('**/v1/reports/daily?*');
      await tab.goTo('#/');
      assert.equal(new URL((await asked).url()).searchParams.get('timezone'), 'UTC');
      await page.getByText(/in \d+ payments/).waitFor();
      await tab.leave();
    });

  it('says what was given back', async () => {
    const { db } = stage.app;
    const { accountId, testKey } = await buildMerchant(db);
    const refund = await buildRefund(db, accountId);
    const { payment } = await buildPaidSession(db, accountId, { status: 'processing', amountCents: 125 });
    await payment.$query(db).patch({ payableId: refund.id });
    await payment.$query(db).patch({ status: 'succeeded' });
    const tab = await stage.visit(testKey, '#/');
    await tab.page.getByText('$1.25 given back in 1 refund', { exact: true }).waitFor();
    await tab.leave();
  });

  it('says the next step when nothing was paid', async () => {
    const { testKey } = await buildMerchant(stage.app.db);
    const tab = await stage.visit(testKey, '#/');
    await tab.page.getByText('Nothing was paid in these days.').waitFor();
    await tab.page.getByText('Nothing. No webhook endpoint fails, no refund').waitFor();
    await tab.page.getByRole('link', { name: 'Create a payment link' }).click();
    await tab.sees('Create a link');
    await tab.leave();
  });
});

describe('the dashboard with a key that only reads', () => {
  const stage = forAllTests(openStage);

  it('says so, and turns off what changes something', async () => {
    const { db } = stage.app;
    const { accountId, testKey } = stage.merchant;
    const names = { accountId, livemode: false, name: 'Book-keeper', ...READ_ONLY };
    const { secret } = await createApiKey(db, names);
    const { payment } = await buildPaidSession(db, accountId);
    const tab = await stage.visit(secret, '#/keys');
    const { page } = tab;
    await page.getByText('This key can only read').waitFor();
    await page
      .getByRole('row', { name: /Book-keeper/ })
      .getByText('read only')
      .waitFor();
    assert.equal(await page.getByRole('button', { name: 'Delete key' }).first().isDisabled(), true);
    for (const [place, button] of [
      [`#/payments/${payment.id}`, 'Refund'],
      ['#/links/new', 'Create the link'],
      ['#/webhooks/new', 'Add the endpoint'],
    ] as const) {
      await tab.goTo(place);
      const found = page.getByRole('button', { name: button, exact: true });
      await found.waitFor();
      assert.equal(await found.isDisabled(), true, button);
      assert.deepEqual(await violations(page), []);
    }
    await tab.leave(403);
    const other = await stage.visit(testKey, `#/payments/${payment.id}`);
    await other.press('Refund');
    assert.equal(await other.page.getByText('This key can only read').count(), 0);
    await other.leave(404);
  });
});
