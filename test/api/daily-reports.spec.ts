import assert from 'node:assert/strict';
import { buildPaidSession, buildRefund } from '../../lab/world/shop/factories.js';
import { askCsv, assertInvalid, client, schemaValidator } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { connectAgent } from '../support/mcp.js';
import { buildShop } from '../support/shop.js';
import { sdk } from '../support/stripe-sdk.js';

const REPORTS = '/v1/reports/daily';
const NOVEMBER = `${REPORTS}?from=2026-11-01&to=2026-11-30`;
const EMPTY = { payments: 0, amount: 0, refunds: 0, refunded: 0, surplus: 0, by: [] };

interface Day {
  date: string;
  payments: number;
}

describe('daily reports', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildShop(app));
  before(async () => {
    const at = (text: string): { settledAt: Date } => ({ settledAt: new Date(text) });
    const pay = (overrides: object) => buildPaidSession(app.db, shop.accountId, overrides);
    await pay(at('2026-11-02T00:00:00Z'));
    await pay({ ...at('2026-11-02T23:59:59.999Z'), amountCents: 7, tokenAmount: '70000' });
    await pay({ ...at('2026-11-02T12:00:00Z'), token: 'USDG', network: 'eip155:1952' });
    await pay({ ...at('2026-11-02T12:00:00Z'), surplus: true });
    await pay({ ...at('2026-11-02T12:00:00Z'), livemode: true });
    await pay({ ...at('2026-11-02T12:00:00Z'), status: 'failed' });
    await pay({ ...at('2026-11-03T12:00:00Z'), surplus: true, amountCents: 30 });
    const refund = await buildRefund(app.db, shop.accountId, {}, at('2026-10-31T12:00:00Z'));
    const { payment } = await pay({ ...at('2026-11-04T12:00:00Z'), status: 'processing', amountCents: 100 });
    await payment.$query(app.db).patch({ payableId: refund.id });
    await payment.$query(app.db).patch({ status: 'succeeded' });
  });

  it('have one object for each day, the first day first, days without payments included', async () => {
    const { body } = await shop.test.get(NOVEMBER).expect(200);
    const { data, ...list } = body;
    assert.deepEqual(list, { object: 'list', url: REPORTS, has_more: false });
    assert.deepEqual(
      data.map(({ date }: Day) => date),
      Array.from({ length: 30 }, (_, day) => `2026-11-${String(day + 1).padStart(2, '0')}`),
    );
    const facts = { object: 'daily_report', currency: 'usd' };
    assert.deepEqual(data[0], { ...facts, date: '2026-11-01', ...EMPTY });
    assert.deepEqual(data[1], {
      ...facts,
      date: '2026-11-02',
      payments: 3,
      amount: 907,
      refunds: 0,
      refunded: 0,
      surplus: 450,
      by: [
        {
          token: 'USDC',
          network: 'eip155:84532',
          network_name: 'Base Sepolia',
          payments: 2,
          amount: 457,
          token_amount: '4570000',
          refunds: 0,
          refunded: 0,
        },
        {
          token: 'USDG',
          network: 'eip155:1952',
          network_name: 'X Layer Testnet',
          payments: 1,
          amount: 450,
          token_amount: '4500000',
          refunds: 0,
          refunded: 0,
        },
      ],
    });
    assert.deepEqual(data[2], { ...facts, date: '2026-11-03', ...EMPTY, surplus: 30 });
    const { by, ...refunded } = data[3];
    const { by: _, ...empty } = EMPTY;
    assert.deepEqual(refunded, { ...facts, date: '2026-11-04', ...empty, refunds: 1, refunded: 100 });
    assert.deepEqual([by.length, by[0].refunds, by[0].refunded, by[0].token_amount], [1, 1, 100, '0']);
    const validate = schemaValidator('#/components/schemas/DailyReportList');
    assert.ok(validate(body), JSON.stringify(validate.errors));
  });

  it('have the days of a time zone', async () => {
    const paidOn = async (timezone: string): Promise<string[]> => {
      const { body } = await shop.test.get(`${NOVEMBER}&timezone=${timezone}`).expect(200);
      return body.data.flatMap(({ date, payments }: Day) => (payments > 0 ? [`${date} ${payments}`] : []));
    };
    assert.deepEqual(await paidOn('UTC'), ['2026-11-02 3']);
    assert.deepEqual(await paidOn('Europe/Berlin'), ['2026-11-02 2', '2026-11-03 1']);
    assert.deepEqual(await paidOn('america/new_york'), ['2026-11-01 1', '2026-11-02 2']);
    assert.deepEqual(await paidOn('Asia/Kathmandu'), ['2026-11-02 2', '2026-11-03 1']);
  });

  it('are of the account and mode of the key', async () => {
    const paid = async (key: string): Promise<number> => {
      const { body } = await client(app, key).get(NOVEMBER).expect(200);
      return body.data.reduce((sum: number, { payments }: Day) => sum + payments, 0);
    };
    const other = await buildShop(app);
    assert.deepEqual(
      [await paid(shop.testKey), await paid(shop.liveKey), await paid(other.testKey)],
      [3, 1, 0],
    );
  });

  it('are one line for each day as CSV', async () => {
    for (const accept of ['text/csv', 'text/csv; charset=utf-8']) {
      const path = `${REPORTS}?from=2026-11-02&to=2026-11-04`;
      const res = await askCsv(app, shop.testKey, path, accept).expect(200);
      assert.equal(res.get('Content-Type'), 'text/csv; charset=utf-8');
      assert.deepEqual(res.text.split('\r\n'), [
        'date,currency,payments,amount,refunds,refunded,surplus',
        '2026-11-02,usd,3,9.07,0,0.00,4.50',
        '2026-11-03,usd,0,0.00,0,0.00,0.30',
        '2026-11-04,usd,0,0.00,1,1.00,0.00',
        '',
      ]);
    }
  });

  it('are read by an agent over MCP and by rawRequest', async () => {
    const range = { from: '2026-11-02', to: '2026-11-02' };
    const agent = await connectAgent(app.port, shop.testKey);
    const { body } = await agent.call('retrieve_daily_reports', range);
    assert.equal(body.data[0].amount, 907);
    await agent.close();
    const stripe = sdk(shop.testKey, app.port);
    const list = await stripe.rawRequest('GET', `${REPORTS}?from=${range.from}&to=${range.to}`);
    assert.deepEqual(JSON.parse(JSON.stringify(list)), JSON.parse(JSON.stringify(body)));
  });

  it('take 366 days at most', async () => {
    const { body } = await shop.test.get(`${REPORTS}?from=2026-01-01&to=2027-01-01`).expect(200);
    assert.equal(body.data.length, 366);
    const { body: leap } = await shop.test.get(`${REPORTS}?from=2028-02-28&to=2028-03-01`).expect(200);
    assert.deepEqual(
      leap.data.map(({ date }: Day) => date),
      ['2028-02-28', '2028-02-29', '2028-03-01'],
    );
    await shop.test.get(`${REPORTS}?from=9999-12-31&to=9999-12-31&timezone=Asia/Tokyo`).expect(200);
    await shop.test.get(`${REPORTS}?from=1970-01-01&to=1970-01-01&timezone=Asia/Tokyo`).expect(200);
  });

  const refusals: [query: string, code: string, param: string][] = [
    ['', 'parameter_missing', 'from'],
    ['from=2026-11-01', 'parameter_missing', 'to'],
    ['from=&to=2026-11-01', 'parameter_invalid_empty', 'from'],
    ['from=2026-11-31&to=2026-12-01', 'parameter_invalid', 'from'],
    ['from=2026-02-29&to=2026-12-01', 'parameter_invalid', 'from'],
    ['from=2026-1-1&to=2026-12-01', 'parameter_invalid', 'from'],
    ['from=1793491200&to=2026-12-01', 'parameter_invalid', 'from'],
    ['from=1969-12-31&to=1970-01-01', 'parameter_invalid', 'from'],
    ['from=2026-11-01&to=2026-11-01T00:00:00Z', 'parameter_invalid', 'to'],
    ['from=2026-11-02&to=2026-11-01', 'parameter_invalid', 'to'],
    ['from=2026-01-01&to=2027-01-02', 'parameter_invalid', 'to'],
    ['from=1970-01-01&to=9999-12-31', 'parameter_invalid', 'to'],
    ['from=2026-11-01&to=2026-11-01&timezone=Berlin', 'parameter_invalid', 'timezone'],
    ['from=2026-11-01&to=2026-11-01&timezone=%2B02:00', 'parameter_invalid', 'timezone'],
    [`from=2026-11-01&to=2026-11-01&timezone=${'x'.repeat(5000)}`, 'parameter_invalid', 'timezone'],
    ['from=2026-11-01&to=2026-11-01&timezone=%00', 'parameter_invalid_string', 'timezone'],
    ['from=2026-11-01&from=2026-11-01&to=2026-11-01', 'parameter_invalid', 'from'],
    ['from=2026-11-01&to=2026-11-01&limit=1', 'parameter_unknown', 'limit'],
  ];
  for (const [query, code, param] of refusals)
    it(`refuse ?${query.slice(0, 80)}`, async () => {
      assertInvalid(await shop.test.get(`${REPORTS}?${query}`), code, param);
    });

  it('count the last day too where they refuse too many', async () => {
    const { body } = await shop.test.get(`${REPORTS}?from=2028-01-01&to=2029-01-01`).expect(400);
    const expected = 'to is too late: a report has at most 366 days, those of from and to included.';
    assert.equal(body.error.message, expected);
    await shop.test.get(`${REPORTS}?from=2028-01-01&to=2028-12-31`).expect(200);
  });
});
