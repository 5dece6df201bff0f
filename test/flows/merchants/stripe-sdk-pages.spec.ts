import assert from 'node:assert/strict';
import type Stripe from 'stripe';
import { buildMerchant, buildSession } from '../../../lab/world/shop/factories.js';
import { nowMs } from '../../../shared/process/clock.js';
import { openTestApp } from '../../support/app.js';
import { forAllTests } from '../../support/hooks.js';
import { sdk } from '../../support/stripe-sdk.js';

describe('the stock Stripe SDK', () => {
  const app = forAllTests(openTestApp);

  describe('pages through 110 sessions', () => {
    let reader: Stripe;
    /** Newest first, as lists are. */
    let ids: string[];
    before(async () => {
      const owner = await buildMerchant(app.db);
      reader = sdk(owner.testKey, app.port);
      const sessions = await Promise.all(
        Array.from({ length: 110 }, () => buildSession(app.db, owner.accountId)),
      );
      ids = sessions.map(({ id }) => id).sort();
      ids.reverse();
    });

    const idsOf = (sessions: Stripe.Checkout.Session[]): string[] => sessions.map(({ id }) => id);

    it('forwards', async () => {
      const seen = await reader.checkout.sessions.list({ limit: 100 }).autoPagingToArray({ limit: 1000 });
      assert.deepEqual(idsOf(seen), ids);
    });

    it('forwards, ten at a time, with for await', async () => {
      const seen: string[] = [];
      for await (const { id } of reader.checkout.sessions.list()) seen.push(id);
      assert.deepEqual(seen, ids);
    });

    it('backwards, from the oldest', async () => {
      const oldest = ids.at(-1) ?? '';
      const seen = await reader.checkout.sessions
        .list({ limit: 100, ending_before: oldest })
        .autoPagingToArray({ limit: 1000 });
      assert.deepEqual(idsOf(seen), ids.slice(0, -1).reverse());
    });

    it('backwards, three at a time, from the middle', async () => {
      const seen = await reader.checkout.sessions
        .list({ limit: 3, ending_before: ids[100] ?? '' })
        .autoPagingToArray({ limit: 1000 });
      assert.deepEqual(idsOf(seen), ids.slice(0, 100).reverse());
    });

    it('forwards while sessions are created: each existing one once, and no new one', async () => {
      const owner = await buildMerchant(app.db);
      const busy = sdk(owner.testKey, app.port);
      const before: string[] = [];
      for (let i = 0; i < 12; i++) before.unshift((await buildSession(app.db, owner.accountId)).id);
      const seen: string[] = [];
      for await (const { id } of busy.checkout.sessions.list({ limit: 5 })) {
        seen.push(id);
        await buildSession(app.db, owner.accountId);
      }
      assert.deepEqual(seen, before);
    });

    it('with a filter, a time range and expanded line items', async () => {
      const open = await reader.checkout.sessions
        .list({ limit: 100, status: 'open', expand: ['data.line_items'], created: { gte: 1 } })
        .autoPagingToArray({ limit: 1000 });
      assert.deepEqual(idsOf(open), ids);
      assert.equal(open[0]?.line_items?.data[0]?.description, 'Coffee');
      const later = await reader.checkout.sessions.list({
        created: { gt: Math.floor(nowMs() / 1000) + 3600 },
      });
      assert.deepEqual([later.data, later.has_more], [[], false]);
    });
  });
});
