import assert from 'node:assert/strict';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import { advanceClock, resetClock } from '../../shared/process/clock.js';
import { withResolvers } from '../../shared/process/with-resolvers.js';
import { WebhookDelivery, WebhookEndpoint } from '../../shared/webhooks/model.js';
import { buildFailingEndpoint, buildUntried } from '../support/dashboard/failing-endpoint.js';
import { openStage } from '../support/dashboard/stage.js';
import { forAllTests, forEachTest } from '../support/hooks.js';
import { violations } from '../support/page/accessibility.js';

/** More than a page of deliveries holds. */
const FAILED = 105;

describe('webhooks in the dashboard', () => {
  const stage = forAllTests(openStage);
  const merchant = forEachTest(() => buildMerchant(stage.app.db));

  const deliveriesTo = async (endpointId: string): Promise<WebhookDelivery[]> =>
    await WebhookDelivery.query(stage.app.db).where({ endpointId }).orderBy('id');
  const endpoints = async (): Promise<WebhookEndpoint[]> =>
    await WebhookEndpoint.query(stage.app.db).where({ accountId: merchant.accountId });

  it('are mended in three clicks: the failing endpoint, its last answer, everything that failed', async () => {
    const { endpointId, eventIds } = await buildFailingEndpoint(stage.app.db, merchant.accountId, {
      events: FAILED,
      answer: 'The till is closed',
    });
    const tab = await stage.visit(merchant.testKey, '#/');
    const { page } = tab;
    await page.getByText('Last error: answered 500').waitFor();
    await page.getByRole('link', { name: 'https://shop.example/hooks' }).click();
    await page.getByText('The till is closed').first().waitFor();
    await tab.press(`Resend the ${FAILED} events that failed in the last day`);
    // The service asks for a pause once; the event that it refused follows.
    const headers = { 'Retry-After': '1' };
    const tooMany = { error: { code: 'rate_limit', message: 'Too many requests.' } };
    await page.route('**/resend', (route) => route.fulfill({ status: 429, headers, json: tooMany }), {
      times: 1,
    });
    await tab.press('Resend now');
    await tab.says(`${FAILED} events will be sent again now.`);
    const sent = (await deliveriesTo(endpointId)).slice(FAILED);
    assert.deepEqual(sent.map(({ eventId }) => eventId).sort(), [...eventIds].sort());
    await page.getByText('Nothing that failed in the last day waits to be sent again.').waitFor();
    await tab.leave(404, 429);
  });

  it('are resent once each, when the service was away in the midst of them', async () => {
    const { endpointId, eventIds } = await buildFailingEndpoint(stage.app.db, merchant.accountId, {
      events: 3,
    });
    const tab = await stage.visit(merchant.testKey, `#/webhooks/${endpointId}`);
    const { page } = tab;
    await tab.press('Resend the 3 events that failed in the last day');
    let calls = 0;
    await page.route('**/resend', async (route) => {
      calls += 1;
      return calls === 2 ? await route.abort() : await route.fallback();
    });
    await tab.press('Resend now');
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    await page.getByRole('heading', { name: 'Resend the 2 events that failed in the last day' }).waitFor();
    await tab.press('Resend now');
    await tab.says('2 events will be sent again now.');
    const sent = (await deliveriesTo(endpointId)).slice(3);
    assert.deepEqual(sent.map(({ eventId }) => eventId).sort(), [...eventIds].sort());
    await tab.close();
  });

  it('are counted against their own batch, while the list is read again and in the next batch', async () => {
    const { db } = stage.app;
    const { endpointId } = await buildFailingEndpoint(db, merchant.accountId, { events: 2 });
    const tab = await stage.visit(merchant.testKey, `#/webhooks/${endpointId}`);
    const { page } = tab;
    await tab.press('Resend the 2 events that failed in the last day');
    const { promise: held, resolve: release } = withResolvers();
    let calls = 0;
    await page.route('**/resend', async (route) => {
      calls += 1;
      if (calls === 2) await held;
      await route.fallback();
    });
    await tab.press('Resend now');
    await page.getByText('1 of 2 resent …').waitFor();
    // The merchant comes back from another tab.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.getByRole('heading', { name: 'Resend the 1 event that failed in the last day' }).waitFor();
    await page.getByText('1 of 2 resent …').waitFor();
    release();
    await tab.says('2 events will be sent again now.');
    const [failed] = await deliveriesTo(endpointId);
    const resent = (await deliveriesTo(endpointId)).at(-1);
    await WebhookDelivery.query(db)
      .patch({ attempt: 1, tries: 1, history: failed?.history ?? [] })
      .where({ id: resent?.id });
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await tab.press('Resend the 1 event that failed in the last day');
    await page.getByRole('button', { name: 'Resend now' }).waitFor();
    assert.equal(await page.getByText('resent …').count(), 0);
    await tab.leave();
  });

  it('are resent one by one, by delivery and by event', async () => {
    const { endpointId, eventIds, sessionId } = await buildFailingEndpoint(stage.app.db, merchant.accountId, {
      events: 1,
    });
    const tab = await stage.visit(merchant.testKey, `#/webhooks/${endpointId}`);
    const { page } = tab;
    await page.getByText('1 try', { exact: true }).click();
    await page.getByRole('listitem').getByText('Internal error').waitFor();
    await tab.press(`Resend ${eventIds[0]}`);
    await tab.says('The event will be sent again now.');
    await tab.goTo('#/webhooks/events');
    await page.locator(`a[href="#/webhooks/events/${eventIds[0]}"]`).click();
    await page.getByText(`"id": "${sessionId}"`).waitFor();
    await tab.press('Resend');
    await tab.press('Resend it');
    await tab.says('The event will be sent again to every endpoint that wants it.');
    assert.equal((await deliveriesTo(endpointId)).length, 3);
    await tab.goTo(`#/links/${sessionId}`);
    await page.getByText('Webhook: answered 500').waitFor();
    await tab.leave();
  });

  it('are not resent to a disabled endpoint, which the overview names', async () => {
    const { endpointId } = await buildFailingEndpoint(stage.app.db, merchant.accountId, { events: 2 });
    await WebhookEndpoint.query(stage.app.db).patch({ status: 'disabled' }).where({ id: endpointId });
    const tab = await stage.visit(merchant.testKey, '#/');
    const { page } = tab;
    await page.getByText('is disabled: it is sent nothing.').waitFor();
    await page.getByRole('link', { name: 'https://shop.example/hooks' }).click();
    await page.getByText('Enable the endpoint to send again the 2 events').waitFor();
    await tab.press('Enable');
    await page.getByRole('button', { name: 'Resend the 2 events that failed in the last day' }).waitFor();
    await tab.leave(404);
  });

  describe('that no worker has tried yet', () => {
    const FAILS = 'Last error: answered 500';
    const BEHIND = 'is behind: its newest events have not been sent yet.';
    const NOTHING = 'No webhook endpoint fails';
    afterEach(resetClock);

    for (const [what, { failed, untried, ageSeconds = 0 }, said] of [
      ['hide no failure of those before', { failed: 1, untried: 15 }, FAILS],
      ['are called behind when there are many', { failed: 1, untried: 100 }, BEHIND],
      ['are called behind when one is old', { failed: 0, untried: 1, ageSeconds: 360 }, BEHIND],
      ['are no trouble when they are few and new', { failed: 0, untried: 1 }, NOTHING],
    ] as [string, { failed: number; untried: number; ageSeconds?: number }, string][])
      it(what, async () => {
        const { db } = stage.app;
        const { accountId, testKey } = merchant;
        const endpoint = await buildFailingEndpoint(db, accountId, { events: failed });
        // New ids follow the last one until a reset, whatever the clock says.
        resetClock();
        advanceClock(-ageSeconds * 1000);
        await buildUntried(db, accountId, endpoint, untried);
        resetClock();
        const tab = await stage.visit(testKey, '#/');
        await tab.page.getByText(said).waitFor();
        await tab.leave();
      });
  });

  it('of an endpoint that another tab deletes meanwhile keep nothing from the overview and a timeline', async () => {
    const { testKey, accountId } = merchant;
    const { sessionId } = await buildFailingEndpoint(stage.app.db, accountId, { events: 1 });
    for (const [place, title, rest] of [
      ['#/', 'Overview', 'No webhook endpoint fails'],
      [`#/links/${sessionId}`, 'Link', 'Event checkout.session.completed'],
    ] as const) {
      const [endpoint] = await endpoints();
      const tab = await stage.visit(testKey, '#/keys');
      await tab.page.route('**/deliveries?*', async (route) => {
        await WebhookDelivery.query(stage.app.db).delete().where({ endpointId: endpoint?.id });
        await WebhookEndpoint.query(stage.app.db).deleteById(endpoint?.id ?? '');
        await route.fallback();
      });
      await tab.goTo(place);
      await tab.sees(title);
      await tab.page.getByText(rest).first().waitFor();
      await tab.leave(404);
      await buildFailingEndpoint(stage.app.db, accountId, { events: 1 });
    }
  });

  it('of events of one second are in a timeline in the order in which they were made', async () => {
    const { sessionId, eventIds } = await buildFailingEndpoint(stage.app.db, merchant.accountId, {
      events: 5,
    });
    const tab = await stage.visit(merchant.testKey, `#/links/${sessionId}`);
    const links = tab.page.locator('.timeline a[href^="#/webhooks/events/"]');
    await links.first().waitFor();
    const shown = await links.evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''));
    assert.deepEqual(
      shown,
      eventIds.map((id) => `#/webhooks/events/${id}`),
    );
    await tab.leave();
  });

  it('get an endpoint, whose secret is shown once', async () => {
    const tab = await stage.visit(merchant.testKey, '#/webhooks');
    const { page } = tab;
    await page.getByRole('link', { name: 'Add an endpoint' }).first().click();
    await page.getByLabel('URL').fill('ftp://1.1.1.1/');
    await tab.press('Add the endpoint');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('URL').fill('https://1.1.1.1/hooks');
    await page.getByLabel('Description').fill('The till');
    await page.getByLabel('Every event').uncheck();
    await page.getByLabel('refund.created').uncheck();
    await tab.press('Add the endpoint');
    await page.getByText(/^whsec_/).waitFor();
    const [endpoint] = await endpoints();
    assert.equal(endpoint?.url, 'https://1.1.1.1/hooks');
    assert.deepEqual([...(endpoint?.enabledEvents ?? [])].sort(), [
      'checkout.session.completed',
      'checkout.session.expired',
      'refund.updated',
    ]);
    await page.getByRole('link', { name: 'I have kept it' }).click();
    await tab.sees('Webhook endpoint');
    assert.equal(await page.getByText(/^whsec_/).count(), 0);
    await tab.leave(400);
  });

  it('have an endpoint changed, disabled, enabled, given a new secret, and deleted', async () => {
    const { endpointId } = await buildFailingEndpoint(stage.app.db, merchant.accountId, { events: 0 });
    const sealedSecret = stage.app.secretBox.seal(`whsec_${Buffer.alloc(32).toString('base64')}`);
    await WebhookEndpoint.query(stage.app.db).patch({ sealedSecret }).where({ id: endpointId });
    const tab = await stage.visit(merchant.testKey, `#/webhooks/${endpointId}`);
    const { page } = tab;
    await tab.press('Change');
    await page.getByLabel('URL').fill('https://1.1.1.1/other');
    assert.deepEqual(await violations(page), []);
    await tab.press('Save');
    await tab.says('The endpoint is changed.');
    await page.getByText('https://1.1.1.1/other').waitFor();
    await tab.press('Disable');
    await tab.says('The endpoint is disabled.');
    await tab.press('Enable');
    await tab.says('The endpoint is enabled.');
    await tab.press('Roll the secret');
    await page.getByLabel('The old secret signs').selectOption('for an hour');
    await tab.press('Make a new secret');
    await page.getByText(/^whsec_/).waitFor();
    await tab.press('Change');
    await tab.press('Keep it as it is');
    await page.getByRole('button', { name: 'Change' }).waitFor();
    await page.getByText(/^whsec_/).waitFor();
    assert.deepEqual(await violations(page), []);
    await tab.press('Delete');
    await tab.press('Delete it');
    await tab.says('The endpoint is deleted.');
    await page.getByText('No endpoints yet.').waitFor();
    // The screen may have asked for the endpoint while it was deleted.
    await tab.leave(404);
  });

  it('keep what another tab has changed while a form was open', async () => {
    const { endpointId } = await buildFailingEndpoint(stage.app.db, merchant.accountId, { events: 0 });
    const place = `#/webhooks/${endpointId}`;
    const [slow, quick] = [
      await stage.visit(merchant.testKey, place),
      await stage.visit(merchant.testKey, place),
    ];
    await slow.press('Change');
    await quick.press('Change');
    await quick.page.getByLabel('URL').fill('https://1.1.1.1/moved');
    await quick.page.getByLabel('Every event').uncheck();
    await quick.page.getByLabel('refund.created').uncheck();
    await quick.press('Save');
    await quick.says('The endpoint is changed.');
    await slow.page.getByLabel('Description').fill('The till');
    await slow.press('Save');
    await slow.says('The endpoint is changed.');
    const [endpoint] = await endpoints();
    assert.deepEqual(
      [endpoint?.url, endpoint?.description, endpoint?.enabledEvents.includes('*')],
      ['https://1.1.1.1/moved', 'The till', false],
    );
    await slow.press('Change');
    await slow.press('Save');
    await slow.page.getByRole('button', { name: 'Change' }).waitFor();
    assert.deepEqual(await endpoints(), [endpoint]);
    await slow.leave();
    await quick.leave();
  });
});
