import assert from 'node:assert/strict';
import { pick, type Random, seededRandom } from '../../lab/world/chance/seeded-random.js';
import { buildPaidSession, buildRefund, buildUndecidedPayment } from '../../lab/world/shop/factories.js';
import { Payment } from '../../shared/payments/model.js';
import { foldEntries } from '../../shared/reports/fold.js';
import { rebuildTotals } from '../../shared/reports/rebuild.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { tableReads } from '../support/query-plans.js';
import { assertReport } from '../support/report-sums.js';
import { buildShop, type Shop } from '../support/shop.js';

const SEED = Number(process.env.REPORT_SEED ?? '20261129');
const STEPS = 400;
const RANGE = { from: '2026-03-20', to: '2026-11-10' };
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/Santiago', 'Pacific/Kiritimati'];
/** Days on which clocks are set, and the ends of quarters of an hour. */
const DAYS = ['03-28', '03-29', '04-04', '09-05', '09-06', '10-24', '10-25'].map((day) => `2026-${day}`);
const KINDS = [
  { token: 'USDC', network: 'eip155:84532', tokenAmount: '4500000' },
  { token: 'USDT', network: 'eip155:1952', tokenAmount: '99999999999999999999' },
  { token: 'USDG', network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', tokenAmount: '1' },
] as const;
const ALL_DAYS = { from: new Date(0), before: new Date('9999-12-31') };

describe('the totals of daily reports', () => {
  const app = forAllTests(openTestApp);

  function someTime(random: Random): Date {
    const quarter = Math.floor(random() * 96) * 900_000;
    return new Date(
      Date.parse(`${pick(random, DAYS)}T00:00:00Z`) + quarter + pick(random, [0, 1, 450_000, 899_999]),
    );
  }

  const owned = (shop: Shop) => Payment.query(app.db).where({ accountId: shop.accountId, livemode: false });

  async function foldAll(): Promise<void> {
    while ((await foldEntries(app.db, 1000)) > 0);
  }

  describe('equal a sum over the payments', () => {
    const shop = forAllTests(() => buildShop(app));
    let random: Random;
    /** Payments that have left the table. */
    let archived: Payment[];
    before(() => {
      [random, archived] = [seededRandom(SEED), []];
    });

    const terms = () => ({ ...pick(random, KINDS), amountCents: 1 + Math.floor(random() * 100_000) });

    async function one(where: Partial<Payment>): Promise<Payment | undefined> {
      const found = await owned(shop).where(where).orderBy('id');
      return found.length === 0 ? undefined : pick(random, found);
    }

    const succeed = async (payment: Payment | undefined): Promise<void> => {
      await payment?.$query(app.db).patch({ status: 'succeeded', settledAt: someTime(random) });
    };

    const steps: (() => Promise<unknown>)[] = [
      async () => await buildPaidSession(app.db, shop.accountId, { ...terms(), settledAt: someTime(random) }),
      async () => await buildUndecidedPayment(app.db, shop.accountId, terms()),
      async () => {
        await succeed(await one({ status: 'processing' }));
      },
      async () => {
        const failed = { status: 'failed', stage: null, dueAt: null } as const;
        await (await one({ status: 'processing' }))?.$query(app.db).patch(failed);
      },
      async () => {
        await succeed(await one({ status: 'failed' }));
      },
      async () => {
        await (await one({ status: 'succeeded', surplus: false }))?.$query(app.db).patch({ surplus: true });
      },
      async () => {
        const { accountId } = shop;
        const { id } = await buildRefund(app.db, accountId, {}, { ...terms(), settledAt: someTime(random) });
        const { payment } = await buildPaidSession(app.db, accountId, { ...terms(), status: 'processing' });
        await payment.$query(app.db).patch({ payableId: id });
        await succeed(payment);
      },
      async () => {
        const left = await one({ status: 'succeeded' });
        if (left === undefined || (await app.db('payables').where({ refundedPaymentId: left.id })).length > 0)
          return;
        archived.push(left);
        await left.$query(app.db).delete();
      },
      () => foldEntries(app.db, 1 + Math.floor(random() * 40)),
      () => rebuildTotals(app.db, shop.accountId, ALL_DAYS),
      async () => {
        const day = new Date(`${pick(random, DAYS)}T00:00:00Z`);
        const before = new Date(day.getTime() + 86_400_000);
        await rebuildTotals(app.db, shop.accountId, { from: day, before });
      },
    ];

    async function assertAllZones(): Promise<void> {
      const payments = [...(await owned(shop)), ...archived];
      for (const timezone of ZONES) await assertReport(shop.test, payments, { ...RANGE, timezone });
    }

    it(`after ${STEPS} random changes, folds, rebuilds and removals, in every time zone`, async () => {
      for (let step = 1; step <= STEPS; step += 1) {
        await pick(random, steps)();
        if (step % 50 !== 0) continue;
        await assertAllZones();
      }
      assert.ok(archived.length > 0);
      await foldAll();
      await rebuildTotals(app.db, shop.accountId, ALL_DAYS);
      await assertAllZones();
    }).timeout(120_000);
  });

  it('are right after payments have settled beside folds and rebuilds', async () => {
    const shop = await buildShop(app);
    const settledAt = new Date('2026-05-05T12:07:00Z');
    let left = 300;
    let isOver = false;
    const lane = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const { payment } = await buildUndecidedPayment(app.db, shop.accountId);
        await payment.$query(app.db).patch({ status: 'succeeded', settledAt });
      }
    };
    const beside = async (work: () => Promise<unknown>): Promise<void> => {
      while (!isOver) await work();
    };
    const upkeep = [
      beside(() => foldEntries(app.db, 7)),
      beside(() => foldEntries(app.db, 1000)),
      beside(() => rebuildTotals(app.db, shop.accountId, ALL_DAYS)),
      beside(async () => {
        const { body } = await shop.test.get('/v1/reports/daily?from=2026-05-05&to=2026-05-05');
        const [day] = body.data;
        assert.ok(day.payments <= 300 && day.amount === day.payments * 450, JSON.stringify(day));
      }),
    ];
    await Promise.all(Array.from({ length: 5 }, lane));
    isOver = true;
    await Promise.all(upkeep);
    const range = { from: '2026-05-04', to: '2026-05-06' };
    await assertReport(shop.test, await owned(shop), range);
    await foldAll();
    await assertReport(shop.test, await owned(shop), range);
    await rebuildTotals(app.db, shop.accountId, ALL_DAYS);
    await assertReport(shop.test, await owned(shop), range);
  }).timeout(60_000);

  it('let payments of one account settle without waiting for each other', async () => {
    const shop = await buildShop(app);
    const first = await buildUndecidedPayment(app.db, shop.accountId);
    const second = await buildUndecidedPayment(app.db, shop.accountId);
    const settled = { status: 'succeeded', settledAt: new Date('2026-05-05T12:07:00Z') } as const;
    await app.db.transaction(async (trx) => {
      await first.payment.$query(trx).patch(settled);
      await second.payment.$query(app.db).patch(settled);
      await foldAll();
    });
    await assertReport(shop.test, await owned(shop), { from: '2026-05-05', to: '2026-05-05' });
  });

  it('count a payment that is rolled back nowhere', async () => {
    const shop = await buildShop(app);
    const { payment } = await buildUndecidedPayment(app.db, shop.accountId);
    const undone = app.db.transaction(async (trx) => {
      await payment.$query(trx).patch({ status: 'succeeded', settledAt: new Date() });
      throw new Error('undone');
    });
    await assert.rejects(undone, /undone/);
    assert.deepEqual(await app.db('reportEntries').where({ paymentId: payment.id }), []);
  });

  it('are built anew for payments that no trigger has seen', async () => {
    const shop = await buildShop(app);
    for (const day of ['2026-06-01', '2026-06-02', '2026-06-30'])
      await buildPaidSession(app.db, shop.accountId, { settledAt: new Date(`${day}T23:59:59Z`) });
    await app.db('reportEntries').where({ accountId: shop.accountId }).delete();
    await app.db('reportTotals').where({ accountId: shop.accountId }).delete();
    const day = new Date('2026-06-02T00:00:00Z');
    await rebuildTotals(app.db, shop.accountId, { from: day, before: new Date('2026-06-03T00:00:00Z') });
    const { body } = await shop.test.get('/v1/reports/daily?from=2026-06-01&to=2026-06-30').expect(200);
    const paid = body.data.filter((one: { payments: number }) => one.payments > 0);
    const days = paid.map(({ date, payments }: { date: string; payments: number }) => [date, payments]);
    assert.deepEqual(days, [['2026-06-02', 1]]);
    await rebuildTotals(app.db, shop.accountId, ALL_DAYS);
    await assertReport(shop.test, await owned(shop), { from: '2026-06-01', to: '2026-06-30' });
  });

  it('give a report of a year one row a day, token and network', async () => {
    const shop = await buildShop(app);
    await app.db.raw(
      `INSERT INTO report_totals
       SELECT ?, false, span, start, token, 'eip155:84532', false, 1, 450, 4500000, 0, 0, 0
       FROM generate_series(timestamptz '2026-01-01 00:00Z', '2026-12-31 23:45Z', '15 minutes') start,
         unnest(ARRAY['USDC', 'USDT']) token, unnest(ARRAY[15, 60, 1440]) span
       WHERE mod(CAST(extract(epoch FROM start) AS bigint), span * 60) = 0`,
      [shop.accountId],
    );
    await app.db.raw('ANALYZE report_totals');
    const mostRows = { UTC: 800, 'Europe/Berlin': 366 * 24 * 2, 'Asia/Kolkata': 366 * 96 * 2 };
    for (const [zone, most] of Object.entries(mostRows)) {
      const ask = () =>
        shop.test.get(`/v1/reports/daily?from=2026-01-01&to=2026-12-31&timezone=${zone}`).expect(200);
      for (const { table, index, rows } of await tableReads(app.db, ask)) {
        if (table !== 'report_totals') continue;
        assert.equal(index, 'report_totals_pkey');
        assert.ok(rows <= most, `${zone}: ${rows} rows`);
      }
    }
  }).timeout(60_000);
});
