import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import {
  buildMerchant,
  buildPaidSession,
  buildRefund,
  buildSession,
  buildUndecidedPayment,
} from '../../lab/world/shop/factories.js';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { buildFailingEndpoint } from '../support/dashboard/failing-endpoint.js';
import { buildManyPayments } from '../support/dashboard/many-payments.js';
import { type Dashboard, openStage, type Stage } from '../support/dashboard/stage.js';
import { scrollsSideways, violations } from '../support/page/accessibility.js';
import { layoutShift, watchLayout } from '../support/page/layout-shift.js';

/** With SCREENSHOTS=true, screenshots are written to .screenshots, and the picture of docs/dashboard.md to docs/images. */
const IS_LOOKED_AT = process.env.SCREENSHOTS === 'true';
const FOLDER = path.join(projectRoot(), '.screenshots');
const PICTURES: Readonly<Record<string, string>> = {
  'dashboard-endpoint-at-1280.png': path.join(projectRoot(), 'docs', 'images', 'dashboard-endpoint.png'),
};
const VIEWS = [
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
] as const;
const NARROWEST = { width: 360, height: 640 };
const MANY = 10_000;
const MOST_SHIFT = 0.02;

const BROKEN_HEADS = `[...document.querySelectorAll('th')].flatMap((head) => {
  const range = document.createRange();
  range.selectNodeContents(head);
  const lines = new Set([...range.getClientRects()].map(({ top }) => top)).size;
  return lines > head.textContent.trim().split(/\\s+/).length ? [head.textContent] : [];
})`;

/** Places, their titles, and a text that is there when the screen is complete. */
type Places = readonly (readonly [name: string, place: string, title: string, text: string | RegExp])[];

const LISTS: Places = [
  ['overview', '#/', 'Overview', 'Paid per day'],
  ['payments', '#/payments', 'Payments', /USDC on|No payments yet/],
  ['in progress', '#/payments?status=processing', 'Payments', /USDC on|No payment fits/],
  ['links', '#/links', 'Links', /^paid$|No links yet/],
  ['new link', '#/links/new', 'Create a link', 'Item 1'],
  ['refunds', '#/refunds', 'Refunds', /waits for your signature|No refunds here/],
  ['webhooks', '#/webhooks', 'Webhooks', /Last error|No endpoints yet/],
  ['new endpoint', '#/webhooks/new', 'Add an endpoint', 'Every event'],
  ['events', '#/webhooks/events', 'Log of events', /checkout\.session\.completed|No events here/],
  ['keys', '#/keys', 'Keys', 'Delete key'],
  ['search', '#/search?q=', 'Search', 'Type an id'],
  ['elsewhere', '#/nowhere', 'There is no such screen.', 'Go to the overview'],
];

describe('every screen of the dashboard', () => {
  let stage: Stage;
  let places: Places;
  let emptyKey: string;
  before(async () => {
    mkdirSync(FOLDER, { recursive: true });
    stage = await openStage();
    const { db } = stage.app;
    const { accountId } = stage.merchant;
    emptyKey = (await buildMerchant(db)).testKey;
    await buildManyPayments(db, accountId, MANY);
    const { payment } = await buildPaidSession(db, accountId);
    const open = await buildSession(db, accountId, {
      clientReferenceId: 'order-1',
      customerEmail: 'buyer@mail.example',
      metadata: { colour: 'green' },
    });
    await buildUndecidedPayment(db, accountId);
    const { endpointId, eventIds } = await buildFailingEndpoint(db, accountId, { events: 3 });
    const refund = await buildRefund(db, accountId);
    places = [
      ...LISTS,
      ['payment', `#/payments/${payment.id}?refund=true`, 'Payment', 'Payment settled'],
      ['link', `#/links/${open.id}`, 'Link', 'Metadata: colour'],
      ['refund', `#/refunds/${refund.id}`, 'Refund', 'Open the refund page'],
      ['endpoint', `#/webhooks/${endpointId}`, 'Webhook endpoint', /Resend the 3 events/],
      ['event', `#/webhooks/events/${eventIds[0]}`, 'Event', 'As it is delivered'],
    ];
  });
  after(async () => {
    await stage.close();
  });

  async function look(tab: Dashboard, name: string): Promise<void> {
    const view = `${name} at ${tab.page.viewportSize()?.width}`;
    if (IS_LOOKED_AT) {
      const file = `dashboard-${view.replaceAll(/\W+/g, '-')}.png`;
      await tab.page.screenshot({ path: path.join(FOLDER, file), fullPage: true });
      const picture = PICTURES[file];
      if (picture !== undefined) copyFileSync(path.join(FOLDER, file), picture);
    }
    assert.deepEqual(await violations(tab.page), [], view);
    assert.equal(await scrollsSideways(tab.page), false, view);
    await tab.page.setViewportSize(NARROWEST);
    assert.equal(await scrollsSideways(tab.page), false, `${name} at the narrowest`);
    assert.deepEqual(await tab.page.evaluate(BROKEN_HEADS), [], `${name} at the narrowest`);
  }

  async function complete(tab: Dashboard, title: string, text: string | RegExp): Promise<void> {
    const { page } = tab;
    await tab.sees(title);
    await page.locator('main').getByText(text).filter({ visible: true }).first().waitFor();
    await page.locator('.loading').first().waitFor({ state: 'detached' });
  }

  for (const { colorScheme, ...viewport } of VIEWS) {
    it(`has no fault at ${viewport.width}, with ${MANY} payments`, async () => {
      const tab = await stage.visit(stage.merchant.testKey, '#/', { viewport, colorScheme });
      for (const [name, place, title, text] of places) {
        await tab.page.setViewportSize(viewport);
        await tab.goTo(place);
        await complete(tab, title, text);
        await look(tab, name);
      }
      await tab.leave(404);
    });
  }

  it('has no fault without any data, wide and narrow in turn, and says the next step', async () => {
    const tab = await stage.visit(emptyKey, '#/');
    // The other screens are the same with data and without.
    const emptied = LISTS.filter(([, , , text]) => /\bNo /.test(String(text)) || text === 'Paid per day');
    assert.equal(emptied.length, 7);
    for (const [turn, [name, place, title, text]] of emptied.entries()) {
      const { colorScheme, ...viewport } = VIEWS[turn % 2] ?? VIEWS[0];
      await tab.page.emulateMedia({ colorScheme });
      await tab.page.setViewportSize(viewport);
      await tab.goTo(place);
      await complete(tab, title, text);
      await look(tab, `empty ${name}`);
      if (await tab.page.locator('.empty').first().isVisible())
        assert.notEqual(await tab.page.locator('.empty').first().textContent(), '');
    }
    await tab.leave(404);
  });

  it('moves nothing while it loads, wide and narrow in turn', async () => {
    const addresses = places
      .map(([, place]) => place)
      .filter((place) => /^#\/(\w*|\w+\/\w+_.*)$/.test(place));
    assert.ok(addresses.length > 9);
    const tab = await stage.visit(stage.merchant.testKey, '#/');
    await watchLayout(tab.page);
    for (const [turn, place] of addresses.entries()) {
      const { width, height } = VIEWS[turn % 2] ?? VIEWS[0];
      await tab.page.setViewportSize({ width, height });
      await tab.goTo(place);
      await tab.page.reload();
      await tab.page.locator('h1').waitFor();
      await tab.page.locator('.loading').first().waitFor({ state: 'detached' });
      const shift = await layoutShift(tab.page);
      const shifts = await tab.page.evaluate('window.layoutShifts');
      assert.ok(shift < MOST_SHIFT, `${place} at ${width}: ${shift}, ${shifts}`);
    }
    await tab.leave(404);
  });

  it('turns the pages of a long list, forwards and back', async () => {
    const tab = await stage.visit(stage.merchant.testKey, '#/payments');
    const rows = tab.page.locator('tbody tr');
    const first = `a[href="${await rows.first().locator('a').getAttribute('href')}"]`;
    await tab.page.getByRole('link', { name: 'Older' }).click();
    await tab.page.getByRole('link', { name: 'Newer' }).waitFor();
    await tab.page.locator(first).waitFor({ state: 'detached' });
    assert.equal(await rows.count(), 20);
    await tab.page.getByRole('link', { name: 'Newer' }).click();
    await rows.first().locator(first).waitFor();
    await tab.leave();
  });

  it('keeps each digit of a date, though the address follows late, and leads back from it by one step', async () => {
    const tab = await stage.visit(emptyKey, '#/keys');
    const { page } = tab;
    await tab.sees('Keys');
    await tab.goTo('#/payments');
    const from = page.getByLabel('From');
    const type = async (delay: number): Promise<void> => {
      await from.focus();
      await page.keyboard.type('11012026', { delay });
      await page.waitForURL('**/dashboard#/payments?from=2026-11-01');
    };
    for (const delay of [13, 14, 15, 16, 17, 18, 15, 16]) {
      await type(delay);
      await from.fill('');
      await page.waitForURL('**/dashboard#/payments');
      await from.blur();
    }
    await type(20);
    await page.goBack();
    await tab.sees('Keys');
    await tab.leave();
  });

  it('leads by keyboard from screen to screen, and a screen reader to the new title', async () => {
    const tab = await stage.visit(emptyKey, '#/keys');
    const { page } = tab;
    const focused = (): Promise<unknown> => page.evaluate('document.activeElement.textContent');
    await tab.sees('Keys');
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.equal(await focused(), 'Keys');
    await page.getByRole('link', { name: 'Refunds' }).focus();
    await page.keyboard.press('Enter');
    await tab.sees('Refunds');
    assert.equal(await focused(), 'Refunds');
    await tab.goTo('#/links');
    await tab.sees('Links');
    await page.getByRole('link', { name: 'Create a link' }).first().press('Enter');
    await tab.sees('Create a link');
    await tab.leave();
  });

  it('says that there is no screen of an unknown name, and follows an address that changes before the first paint', async () => {
    const tab = await stage.visit(emptyKey, '#/keys');
    for (const name of ['nowhere', 'constructor', '__proto__']) {
      await tab.goTo(`#/${name}`);
      await tab.sees('There is no such screen.');
      await tab.goTo('#/keys');
      await tab.sees('Keys');
    }
    await tab.page.addInitScript(
      `addEventListener('DOMContentLoaded', () => { location.hash = '#/links'; })`,
    );
    await tab.page.reload();
    await tab.sees('Links');
    await tab.leave();
  });

  it('keeps what it has shown when the service cannot be reached, and says so', async () => {
    const tab = await stage.visit(stage.merchant.testKey, '#/payments');
    const { page } = tab;
    await page.clock.install();
    await page.reload();
    await page.locator('tbody tr').first().waitFor();
    await page.route('**/v1/**', (route) => route.abort());
    await page.clock.fastForward(6000);
    await page.getByText('This may be out of date.').waitFor();
    assert.equal(await page.locator('tbody tr').count(), 20);
    await page.unroute('**/v1/**');
    await page.clock.fastForward(6000);
    await page.getByText('This may be out of date.').waitFor({ state: 'detached' });
    await tab.close();
  });

  it("shows nothing of another account's objects", async () => {
    const tab = await stage.visit(emptyKey, '#/');
    for (const [, place, title] of places.slice(LISTS.length)) {
      await tab.goTo(place);
      await tab.sees(title);
      await tab.page.getByText('Nothing with this id is in the data of this key.').waitFor();
    }
    await tab.leave(404);
  });
});
