import { createdAt, type IdPrefix, lowestIdAt } from './ids.js';

/** A month in UTC, such as `2025-01`. Its objects are one range of ids per prefix, since ids hold their creation time. */
export type Month = string;

/** The tables that grow forever, with the prefixes of their ids. A table comes after the tables that it refers to. */
export const GROWING = {
  payables: ['cs_live_', 'cs_test_', 're_'],
  payments: ['pay_'],
  events: ['evt_'],
  webhook_deliveries: ['wd_'],
} as const satisfies Record<string, readonly IdPrefix[]>;

export type GrowingTable = keyof typeof GROWING;

export const GROWING_TABLES = Object.keys(GROWING) as GrowingTable[];

/** The ids of a month with one prefix. */
interface Slice {
  from: string;
  below: string;
}

export function isMonth(text: string): boolean {
  return /^20\d\d-(0[1-9]|1[0-2])$/.test(text);
}

export function monthAt(ms: number): Month {
  return new Date(ms).toISOString().slice(0, 7);
}

export function monthOf(id: string): Month {
  return monthAt(createdAt(id).getTime());
}

export function startOf(month: Month): number {
  return Date.parse(`${month}-01T00:00:00.000Z`);
}

export function monthsAfter(month: Month, count: number): Month {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return monthAt(Date.UTC(year, number - 1 + count, 1));
}

export function slicesOf(table: GrowingTable, month: Month): Slice[] {
  const prefixes: readonly IdPrefix[] = GROWING[table];
  return prefixes.map((prefix) => ({
    from: lowestIdAt(prefix, startOf(month)),
    below: lowestIdAt(prefix, startOf(monthsAfter(month, 1))),
  }));
}

/** An SQL condition: the id belongs to the month. */
export function isOfMonth(column: string, table: GrowingTable, month: Month): string {
  const ranges = slicesOf(table, month).map(
    ({ from, below }) => `${column} >= '${from}' AND ${column} < '${below}'`,
  );
  return `(${ranges.join(' OR ')})`;
}
