import assert from 'node:assert/strict';
import type { Knex } from '../../shared/db/knex.js';
import { Payment } from '../../shared/payments/model.js';
import type { Client } from './api-client.js';

/** A day of a report, counted from the payments without the table of totals. */
interface CountedDay {
  payments: number;
  amount: number;
  refunds: number;
  refunded: number;
  surplus: number;
  by: Record<
    string,
    { payments: number; amount: number; token_amount: string; refunds: number; refunded: number }
  >;
}

function emptyDay(): CountedDay {
  return { payments: 0, amount: 0, refunds: 0, refunded: 0, surplus: 0, by: {} };
}

/** The days by date, as Intl names the dates of the zone. */
function countDays(payments: readonly Payment[], timeZone: string): Map<string, CountedDay> {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
  const days = new Map<string, CountedDay>();
  for (const payment of payments) {
    if (payment.status !== 'succeeded') continue;
    const date = format.format(payment.settledAt ?? payment.claimedAt);
    const day = days.get(date) ?? emptyDay();
    days.set(date, day);
    addPayment(day, payment);
  }
  return days;
}

function addPayment(day: CountedDay, payment: Payment): void {
  const amount = Number(payment.amountCents);
  const isRefund = payment.payableId.startsWith('re_');
  if (payment.surplus) {
    if (!isRefund) day.surplus += amount;
    return;
  }
  const key = `${payment.token} ${payment.network}`;
  const by = day.by[key] ?? { payments: 0, amount: 0, token_amount: '0', refunds: 0, refunded: 0 };
  day.by[key] = by;
  for (const sum of [day, by]) {
    if (isRefund) {
      sum.refunds += 1;
      sum.refunded += amount;
    } else {
      sum.payments += 1;
      sum.amount += amount;
    }
  }
  if (!isRefund) by.token_amount = String(BigInt(by.token_amount) + BigInt(payment.tokenAmount));
}

/** The answer of the API in the same form. */
function shownDays(data: readonly ShownDay[]): Map<string, CountedDay> {
  return new Map(
    data.map(({ date, payments, amount, refunds, refunded, surplus, by }) => [
      date,
      {
        payments,
        amount,
        refunds,
        refunded,
        surplus,
        by: Object.fromEntries(
          by.map(({ token, network, network_name: _, ...sums }) => [`${token} ${network}`, sums]),
        ),
      },
    ]),
  );
}

interface ShownDay extends Omit<CountedDay, 'by'> {
  date: string;
  by: (CountedDay['by'][string] & { token: string; network: string; network_name: string })[];
}

/** Asserts that the report of these days equals the count, with an empty day for each day without payments. */
export async function assertReport(
  api: Client,
  payments: readonly Payment[],
  { from, to, timezone = 'UTC' }: { from: string; to: string; timezone?: string },
): Promise<void> {
  const query = `from=${from}&to=${to}&timezone=${encodeURIComponent(timezone)}`;
  const { body } = await api.get(`/v1/reports/daily?${query}`).expect(200);
  const shown = shownDays(body.data);
  const counted = countDays(payments, timezone);
  const expected = [...shown.keys()].map((date): [string, CountedDay] => [
    date,
    counted.get(date) ?? emptyDay(),
  ]);
  assert.deepEqual([...shown], expected, timezone);
}

/** Checks the report of an account's payments of test mode, from the first to the last day. */
export async function assertWholeReport(api: Client, db: Knex, accountId: string): Promise<void> {
  const payments = await Payment.query(db).where({ accountId, livemode: false });
  const days = payments.flatMap(({ settledAt }) => settledAt?.toISOString().slice(0, 10) ?? []).sort();
  assert.ok(days.length > 0);
  await assertReport(api, payments, { from: days[0] ?? '', to: days.at(-1) ?? '' });
}
