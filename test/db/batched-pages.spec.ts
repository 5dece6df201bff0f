import assert from 'node:assert/strict';
import { buildMerchant, buildSessions } from '../../lab/world/shop/factories.js';
import { createApiKey, type Principal, revokeApiKey } from '../../shared/accounts/api-keys.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import {
  listCheckoutSessions,
  readCheckoutSessions,
  type SessionFilter,
} from '../../shared/checkout-sessions/read.js';
import type { PageRequest } from '../../shared/db/listing.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { allStatements } from '../support/query-plans.js';

const FIRST: PageRequest = { limit: 10, startingAfter: undefined, endingBefore: undefined };
const ALL: SessionFilter = { status: undefined, lowestId: undefined, belowId: undefined };

describe('pages of lists that are requested in the same moment', () => {
  const app = forAllTests(openTestApp);

  interface Shop {
    principal: Principal;
    /** Newest first. */
    ids: string[];
  }

  async function openShop(count: number): Promise<Shop> {
    const { accountId } = await buildMerchant(app.db);
    const sessions = count === 0 ? [] : await buildSessions(app.db, accountId, count);
    const { key } = await createApiKey(app.db, { accountId, livemode: false, name: 'Test' });
    const principal = { keyId: key.id, accountId, livemode: false, access: key.access };
    return {
      principal,
      ids: sessions
        .map(({ id }) => id)
        .sort()
        .reverse(),
    };
  }

  async function idsOf(principal: Principal, page: PageRequest, filter = ALL): Promise<string[]> {
    const { data } = await listCheckoutSessions(app.db, principal, page, filter, { lineItems: false });
    return data.map(({ id }) => id);
  }

  const countingStatements = async (act: () => Promise<unknown>): Promise<number> =>
    (await allStatements(app.db, act)).length;

  it('share a statement, and each caller gets its own page', async () => {
    const shops = [await openShop(12), await openShop(0), await openShop(3)];
    const { principal, ids } = shops[0] as Shop;
    let pages: string[][] = [];
    const sent = await countingStatements(async () => {
      pages = await Promise.all(shops.map((shop) => idsOf(shop.principal, FIRST)));
    });
    for (const [index, shop] of shops.entries()) assert.deepEqual(pages[index], shop.ids.slice(0, 10));
    // A statement for the pages, and a statement that checks the key of the empty page.
    assert.equal(sent, 2);
    const older = ids.map((startingAfter) => ({ ...FIRST, startingAfter }));
    const newer = ids.map((endingBefore) => ({ ...FIRST, endingBefore }));
    assert.deepEqual(await Promise.all([...older, ...newer].map((page) => idsOf(principal, page))), [
      ...ids.map((_, index) => ids.slice(index + 1, index + 11)),
      ...ids.map((_, index) => ids.slice(Math.max(0, index - 10), index)),
    ]);
  });

  it('are as many in one as have the rows of a long page', async () => {
    const { principal } = await openShop(1);
    const ask = (count: number, page: PageRequest) => () =>
      Promise.all(Array.from({ length: count }, () => idsOf(principal, page)));
    assert.equal(await countingStatements(ask(25, FIRST)), 3);
    assert.equal(await countingStatements(ask(3, { ...FIRST, limit: 100 })), 3);
  });

  it('go each alone with a filter, for whose value Postgres chooses the index', async () => {
    const { principal, ids } = await openShop(2);
    const open: SessionFilter = { ...ALL, status: 'open' };
    const sent = await countingStatements(async () => {
      const pages = await Promise.all([FIRST, FIRST].map((page) => idsOf(principal, page, open)));
      assert.deepEqual(pages, [ids, ids]);
    });
    assert.equal(sent, 2);
  });

  it('are refused to a key that was revoked, and to no other', async () => {
    const [good, bad] = [await openShop(1), await openShop(1)];
    await revokeApiKey(app.db, bad.principal.keyId);
    const [first, second] = await Promise.allSettled(
      [good, bad].map(({ principal }) => idsOf(principal, FIRST)),
    );
    assert.deepEqual(first, { status: 'fulfilled', value: good.ids });
    assert.match(String(second?.status === 'rejected' && second.reason), /revoked/);
  });

  it('whose long objects are read by their ids are refused for a moment when one was archived since', async () => {
    const { principal, ids } = await openShop(2);
    await CheckoutSession.query(app.db).deleteById(String(ids[0]));
    await assert.rejects(readCheckoutSessions(app.db, principal, ids, { lineItems: true }), {
      code: 'service_unavailable',
      details: { retryAfterSeconds: 1 },
    });
  });
});
