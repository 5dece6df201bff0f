import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Page, Route } from 'playwright-core';
import {
  buildEndpoints,
  buildMerchant,
  buildPaidSession,
  buildSession,
} from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { Payable } from '../../shared/payables/model.js';
import { WebhookEndpoint } from '../../shared/webhooks/model.js';
import { fillRefundForm } from '../support/dashboard/refund-form.js';
import { openStage } from '../support/dashboard/stage.js';
import { forAllTests } from '../support/hooks.js';

/** Longer than the page waits for a byte. */
const SILENCE = '00:31';

interface HeldWrite {
  /** Resolves when the service has done it. */
  done: Promise<void>;
  /** Lets its answer arrive, or be lost. */
  release(how?: 'arrives' | 'is lost'): void;
}

describe('an action of the dashboard whose answer is slow', () => {
  const stage = forAllTests(openStage);

  /** Keeps the answer to the next write there. */
  async function holdWrite(page: Page, address: string): Promise<HeldWrite> {
    const steps = new EventEmitter();
    const done = once(steps, 'done').then(() => {});
    const released = once(steps, 'released');
    let isNext = true;
    await page.route(address, async (route) => {
      if (!isNext || route.request().method() === 'GET') return await route.fallback();
      isNext = false;
      const response = await route.fetch();
      steps.emit('done');
      const [how] = await released;
      if (how === 'is lost') await route.abort();
      else await route.fulfill({ response });
    });
    return { done, release: (how = 'arrives') => void steps.emit('released', how) };
  }

  it('makes no second refund, when the answer was lost late, and the button pressed again later still', async () => {
    const { tab, paymentId } = await fillRefundForm(stage);
    const { page } = tab;
    const held = await holdWrite(page, '**/v1/refunds');
    await tab.press('Create the refund');
    await held.done;
    await page.clock.fastForward('00:25');
    held.release('is lost');
    await page.getByRole('alert').getByText('be reached. It may have done what you asked').waitFor();
    await page.clock.fastForward('01:20');
    await tab.press('Create the refund');
    await tab.sees('Refund');
    assert.equal(await Payable.query(stage.app.db).where({ refundedPaymentId: paymentId }).resultSize(), 1);
    await tab.close();
  });

  it('cannot be called off, ends at a frozen server with a sentence, and makes no second refund when it is pressed again', async () => {
    const { tab, paymentId } = await fillRefundForm(stage);
    const { page } = tab;
    const held = await holdWrite(page, '**/v1/refunds');
    await tab.press('Create the refund');
    await held.done;
    assert.equal(await page.getByRole('button', { name: 'Do not refund' }).isDisabled(), true);
    await page.clock.fastForward(SILENCE);
    const alert = page.getByRole('alert');
    await alert.getByText('The service has not answered for 30 seconds. It may have done').waitFor();
    await tab.press('Create the refund');
    await tab.sees('Refund');
    assert.equal(await Payable.query(stage.app.db).where({ refundedPaymentId: paymentId }).resultSize(), 1);
    await tab.close();
  });

  it('is told apart from a read of a frozen server, which the page tries again', async () => {
    const tab = await stage.visit(stage.merchant.testKey, '#/webhooks');
    const { page } = tab;
    await tab.sees('Webhooks');
    await page.clock.install();
    let isFrozen = true;
    const asked = new EventEmitter();
    await page.route('**/v1/keys?*', async (route) => {
      if (!isFrozen) return await route.fallback();
      asked.emit('asked');
    });
    const reading = once(asked, 'asked');
    await tab.goTo('#/keys');
    await reading;
    await page.getByText('Loading …').waitFor();
    await page.clock.fastForward(SILENCE);
    await page.getByText('The service has not answered for 30 seconds. Check your connection').waitFor();
    isFrozen = false;
    await page.clock.fastForward('00:06');
    await page.getByRole('table').waitFor();
    await tab.close();
  });

  it('is not ended while a table arrives, however long it takes', async () => {
    const tab = await stage.visit(stage.merchant.testKey, '#/refunds');
    const { page } = tab;
    await page.clock.install();
    await page.addInitScript(`
      const send = window.fetch;
      window.fetch = (url, options) => {
        if (options.headers.get('Accept') !== 'text/csv') return send(url, options);
        const body = new ReadableStream({
          start: (table) => {
            window.table = table;
            options.signal.onabort = () => table.error(options.signal.reason);
          },
        });
        return Promise.resolve(new Response(body));
      };`);
    await page.reload();
    const button = page.getByRole('button', { name: 'Download CSV' });
    await button.waitFor();
    // Only the spec moves the clock, however slow the machine is.
    await page.clock.pauseAt(Date.now() + 60_000);
    await button.click();
    for (let line = 0; line < 3; line += 1) {
      await page.clock.fastForward('00:20');
      await page.evaluate(`table.enqueue(new TextEncoder().encode('a line\\n'))`);
    }
    const download = page.waitForEvent('download');
    await page.evaluate('table.close()');
    assert.equal(await readFile(await (await download).path(), 'utf8'), 'a line\n'.repeat(3));
    await button.click();
    await page.clock.fastForward(SILENCE);
    await page.getByRole('alert').getByText('The service has not answered for 30 seconds.').waitFor();
    await tab.close();
  });

  it('leaves the merchant at the screen to which they have gone on', async () => {
    const { payment } = await buildPaidSession(stage.app.db, stage.merchant.accountId);
    const tab = await stage.visit(stage.merchant.testKey, `#/payments/${payment.id}?refund=true`);
    const held = await holdWrite(tab.page, '**/v1/refunds');
    await tab.press('Create the refund');
    await held.done;
    await tab.goTo('#/links/new');
    await tab.page.getByLabel('Name', { exact: true }).fill('Coffee');
    held.release();
    await tab.says('The refund of $4.50 is created.');
    await tab.sees('Create a link');
    assert.equal(await tab.page.getByLabel('Name', { exact: true }).inputValue(), 'Coffee');
    await tab.leave();
  });

  it('cannot be called off by the button that keeps things as they are', async () => {
    const { id } = await buildSession(stage.app.db, stage.merchant.accountId);
    const tab = await stage.visit(stage.merchant.testKey, `#/links/${id}`);
    const held = await holdWrite(tab.page, `**/v1/checkout/sessions/${id}/expire`);
    await tab.press('Expire the link');
    await tab.press('Expire it');
    await held.done;
    assert.equal(await tab.page.getByRole('button', { name: 'Keep it as it is' }).isDisabled(), true);
    await tab.page.keyboard.press('Escape');
    await tab.page.getByRole('dialog').waitFor();
    held.release();
    await tab.says('The link is expired.');
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
    const { status } = await CheckoutSession.query(stage.app.db).findById(id).throwIfNotFound();
    assert.equal(status, 'expired');
    await tab.leave();
  });

  it('says that it failed at the screen to which the merchant has gone on', async () => {
    const { tab } = await fillRefundForm(stage);
    const held = await holdWrite(tab.page, '**/v1/refunds');
    await tab.press('Create the refund');
    await held.done;
    await tab.goTo('#/links');
    await tab.sees('Links');
    held.release('is lost');
    await tab.says('The service cannot be reached. It may have done what you asked for');
    await tab.close();
  });

  it('says that a secret was not shown, when its form or screen was left, also when it was opened again', async () => {
    const { accountId, testKey } = await buildMerchant(stage.app.db);
    const [id = ''] = await buildEndpoints(stage.app.db, accountId, 1);
    const tab = await stage.visit(testKey, '#/webhooks');
    const { page } = tab;
    for (const isOpenedAgain of [false, true]) {
      const leave = async ({ done, release }: HeldWrite, title: string): Promise<void> => {
        await done;
        await tab.goTo('#/webhooks');
        await tab.sees('Webhooks');
        if (isOpenedAgain) {
          await page.goBack();
          await tab.sees(title);
        }
        release();
      };
      await tab.goTo('#/webhooks/new');
      const adding = await holdWrite(page, '**/v1/webhook_endpoints');
      await page.getByLabel('URL').fill('https://1.1.1.1/slow');
      await tab.press('Add the endpoint');
      await leave(adding, 'Add an endpoint');
      await tab.says(
        'The endpoint is created. Its secret was not shown, because you left the form: roll it.',
      );
      await tab.goTo(`#/webhooks/${id}`);
      const rolling = await holdWrite(page, '**/roll_secret');
      await tab.press('Roll the secret');
      await tab.press('Make a new secret');
      await leave(rolling, 'Webhook endpoint');
      await tab.says('It was not shown, because you left the screen: roll it again.');
    }
    assert.equal(await WebhookEndpoint.query(stage.app.db).where({ accountId }).resultSize(), 3);
    await tab.leave();
  });

  it('is kept from the account that signs in to the tab next, as a download is', async () => {
    const { accountId, testKey } = stage.merchant;
    const next = await buildMerchant(stage.app.db);
    await buildPaidSession(stage.app.db, accountId);
    const tab = await stage.visit(testKey, '#/payments');
    const { page } = tab;
    let downloads = 0;
    page.on('download', () => {
      downloads += 1;
    });
    const asked = new EventEmitter();
    await page.route('**/v1/payments', async (route) => void asked.emit('asked', route));
    const isAsked = once(asked, 'asked');
    await tab.press('Download CSV');
    const [download]: Route[] = await isAsked;
    await tab.goTo('#/links/new');
    await page.getByLabel('Name', { exact: true }).fill('Coffee');
    await page.getByLabel('Price in dollars').fill('4.50');
    const held = await holdWrite(page, '**/v1/checkout/sessions');
    await tab.press('Create the link');
    await held.done;
    await tab.press('Sign out');
    await page.getByLabel('Checkout key').fill(next.testKey);
    await tab.press('Sign in');
    await tab.sees('Overview');
    await tab.goTo('#/links/new');
    await page.getByLabel('Name', { exact: true }).fill('Tea');
    held.release();
    await download?.fallback();
    // Nothing tells that nothing happens.
    await page.waitForTimeout(500);
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Tea');
    assert.equal(await page.locator('.notices').textContent(), '');
    assert.equal(downloads, 0);
    await tab.close();
  });
});
