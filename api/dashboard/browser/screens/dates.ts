import type { Query } from '../state/route.js';

/** The filter `created` of /v1 for whole days in the merchant's own time zone; `from` and `to` are YYYY-MM-DD. */
export function createdBetween(from: string | undefined, to: string | undefined): Query {
  return { 'created[gte]': startOf(from, 0), 'created[lt]': startOf(to, 1) };
}

function startOf(date: string | undefined, daysLater: number): string | undefined {
  const [year, month, day] = (date ?? '').split('-').map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const ms = new Date(year, month - 1, day + daysLater).getTime();
  return Number.isFinite(ms) ? String(Math.floor(ms / 1000)) : undefined;
}

/**
 * The IANA name of the browser's time zone; UTC where the browser does not know it. Such a browser answers Etc/Unknown, which it
 * does not accept itself, or an offset such as +03:00.
 */
export function ownTimeZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return timeZone !== 'Etc/Unknown' && /^[A-Z]/i.test(timeZone) ? timeZone : 'UTC';
}

/** YYYY-MM-DD, in the time zone, of the day that lies so many days before `seconds`. */
export function dayBefore(seconds: number, days: number, timeZone: string): string {
  // Swedish writes dates as ISO 8601 does.
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone }).format(seconds * 1000);
  // Whole days of UTC: a day of the time zone can have 23 or 25 hours.
  return new Date(Date.parse(`${today}T00:00:00Z`) - days * 86_400_000).toISOString().slice(0, 10);
}
