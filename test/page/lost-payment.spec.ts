import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Visitor } from '../../lab/world/page/visit.js';
import { fundedWallet } from '../../lab/world/page/wallets.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { forAllTests } from '../support/hooks.js';
import { openShop } from '../support/page/shop.js';

const PAY = '**/pay';
const TOO_MANY = { status: 429, headers: { 'Retry-After': '1' } };

/** The connection breaks while a signed payment is in flight. It is paid once, whatever the buyer does. */
describe('a payment whose connection breaks', () => {
  const shop = forAllTests(openShop);

  async function open(prepare: (page: Page) => Promise<void>): Promise<{ visitor: Visitor; id: string }> {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id, { wallets: [fundedWallet()], prepare });
    await visitor.press(/Fox Wallet/);
    return { visitor, id };
  }

  async function assertPaidOnce(visitor: Visitor, id: string): Promise<void> {
    await visitor.sees('Payment complete');
    assert.equal((await shop.payments(id)).length, 1);
    assert.equal(await visitor.page.getByText('was paid already').count(), 0);
    // The browser logs the failed requests and nothing else.
    const others = visitor.problems.filter((problem) => !/net::|Failed to load resource/.test(problem));
    assert.deepEqual(others, []);
    await visitor.close();
  }

  it('before it arrives is sent again', async () => {
    let tries = 0;
    const { visitor, id } = await open(async (page) => {
      await page.route(PAY, (route) => {
        tries += 1;
        return tries === 1 ? route.abort() : route.continue();
      });
    });
    await assertPaidOnce(visitor, id);
    assert.equal(tries, 2);
  });

  it('after it has arrived is found', async () => {
    const { visitor, id } = await open(async (page) => {
      await page.route(PAY, async (route) => {
        await route.fetch();
        await route.abort();
      });
    });
    await assertPaidOnce(visitor, id);
  });

  it('continues after a reload with the same signature', async () => {
    let blocked = true;
    const { visitor, id } = await open(async (page) => {
      await page.route(PAY, (route) => (blocked ? route.abort() : route.continue()));
    });
    await visitor.sees('Checking the payment');
    blocked = false;
    await visitor.page.reload();
    await assertPaidOnce(visitor, id);
  });

  it('is retried by itself, immediately when the connection is back', async () => {
    let tries = 0;
    const { visitor, id } = await open(async (page) => {
      await page.route(PAY, (route) => {
        tries += 1;
        return tries <= 6 ? route.abort() : route.continue();
      });
    });
    await visitor.sees('Checking the payment');
    await eventually(async () => {
      await visitor.page.evaluate('dispatchEvent(new Event("online"))');
      assert.ok(tries > 6);
    });
    assert.equal(await visitor.page.getByRole('button', { name: 'Cancel' }).count(), 0);
    await assertPaidOnce(visitor, id);
  });

  it('is retried while the payment service is unavailable, and says so', async () => {
    let isUnavailable = true;
    const { visitor, id } = await open(async (page) => {
      await page.route(PAY, (route) =>
        isUnavailable
          ? route.fulfill({ json: { outcome: 'again', code: 'payment_service_unavailable', retry_after: 1 } })
          : route.continue(),
      );
    });
    await visitor.sees('The payment service does not answer');
    await visitor.page.locator('#step').getByText('is sent again by itself').waitFor();
    isUnavailable = false;
    await assertPaidOnce(visitor, id);
  });

  it('is kept while a reloaded page finds the payment service unavailable, and sent afterwards', async () => {
    let isBlocked = true;
    const { visitor, id } = await open(async (page) => {
      await page.route(PAY, (route) => (isBlocked ? route.abort() : route.continue()));
    });
    await visitor.sees('Checking the payment');
    const { facilitators } = shop.app;
    const { supported } = facilitators;
    facilitators.supported = async () => undefined;
    isBlocked = false;
    await visitor.page.reload();
    await visitor.sees('One moment, please');
    facilitators.supported = supported;
    await assertPaidOnce(visitor, id);
  });

  it('can be sent again when its signature has expired', async () => {
    let isBlocked = true;
    const { visitor, id } = await open(async (page) => {
      await page.clock.install();
      // The status would correct the clock of the page, which is moved below.
      for (const path of [PAY, '**/status'])
        await page.route(path, (route) => (isBlocked ? route.abort() : route.continue()));
    });
    await visitor.sees('Checking the payment');
    await visitor.page.clock.fastForward('30:00');
    const again = visitor.page.getByRole('button', { name: 'Ask again' });
    await again.waitFor();
    await visitor.page.getByText('it is not known whether your payment arrived').waitFor();
    isBlocked = false;
    await again.click();
    await assertPaidOnce(visitor, id);
  });

  it('stays unknown while a limit answers its retries and its question, and is found when asked again', async () => {
    let tries = 0;
    let isLimited = true;
    const { visitor, id } = await open(async (page) => {
      await page.clock.install();
      // The status would correct the clock of the page, which is moved below.
      await page.route('**/status', (route) => route.abort());
      await page.route(PAY, async (route) => {
        tries += 1;
        if (!isLimited) return await route.continue();
        if (tries > 1) return await route.fulfill(TOO_MANY);
        await route.fetch();
        return await route.abort();
      });
    });
    await visitor.sees('Checking the payment');
    await visitor.page.clock.fastForward('30:00');
    const again = visitor.page.getByRole('button', { name: 'Ask again' });
    const unknown = visitor.page.getByText('it is not known whether your payment arrived');
    await unknown.waitFor();
    assert.ok(tries > 1);
    const nothingTaken = visitor.page.getByText('Nothing was taken');
    const refused = visitor.page.waitForResponse(PAY);
    await again.click();
    await refused;
    await again.or(nothingTaken).waitFor();
    assert.equal(await nothingTaken.count(), 0);
    assert.equal(await visitor.page.getByRole('button', { name: /Fox Wallet/ }).count(), 0);
    await unknown.waitFor();
    await visitor.page.unroute('**/status');
    isLimited = false;
    await again.click();
    await assertPaidOnce(visitor, id);
  });

  it('stays unknown after a reload, too, while the answer to its question is a limit', async () => {
    let isLimited = false;
    const { visitor, id } = await open(async (page) => {
      await page.route(PAY, (route) => (isLimited ? route.fulfill(TOO_MANY) : route.abort()));
    });
    await visitor.sees('Checking the payment');
    await visitor.page.evaluate(`for (const [key, value] of Object.entries(sessionStorage))
      if (key.startsWith('checkout-signed-'))
        sessionStorage.setItem(key, JSON.stringify({ ...JSON.parse(value), validUntil: 1 }))`);
    isLimited = true;
    await visitor.page.reload();
    const again = visitor.page.getByRole('button', { name: 'Ask again' });
    const nothingTaken = visitor.page.getByText('Nothing was taken');
    await again.or(nothingTaken).waitFor();
    assert.equal(await nothingTaken.count(), 0);
    await visitor.page.unroute(PAY);
    await again.click();
    await assertPaidOnce(visitor, id);
  });

  it('is confirmed after a reload in between', async () => {
    const hold = shop.facilitator.settle.holdNext();
    const { visitor, id } = await open(async () => {});
    await visitor.sees('Confirming the payment');
    await visitor.page.reload();
    await visitor.sees('Confirming the payment');
    await visitor.page.getByText('Your payment is on its way.', { exact: true }).waitFor();
    hold.release();
    await assertPaidOnce(visitor, id);
  });
});
