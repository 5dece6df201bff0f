/** The texts of the dashboard are English; times are in the merchant's own zone. */
const LOCALE = 'en-US';
const DOLLARS = new Intl.NumberFormat(LOCALE, { style: 'currency', currency: 'USD' });
const SHORT_DOLLARS = new Intl.NumberFormat(LOCALE, {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  maximumFractionDigits: 2,
});
const COUNT = new Intl.NumberFormat(LOCALE);
const TIME = new Intl.DateTimeFormat(LOCALE, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const DAY = new Intl.DateTimeFormat(LOCALE, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const AGO = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'always' });
const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

export const dollars = (cents: number): string => DOLLARS.format(cents / 100);
/** "$50K". */
export const shortDollars = (cents: number): string => SHORT_DOLLARS.format(cents / 100);
export const count = (value: number): string => COUNT.format(value);
export const time = (seconds: number): string => TIME.format(seconds * 1000);
/** `date` is YYYY-MM-DD. */
export const day = (date: string): string => DAY.format(Date.parse(`${date}T00:00:00Z`));

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** "3 hours ago" or "in 2 minutes". */
export function relative(seconds: number, now: number): string {
  // A service's clock may be ahead of the browser's.
  const difference = Math.min(0, seconds - now);
  const [unit, size] = UNITS.find(([, length]) => Math.abs(difference) >= length) ?? ['second', 1];
  return AGO.format(Math.trunc(difference / size), unit);
}

/** A token amount in the token's own unit, exact: "4.5". */
export function tokens(amount: string, decimals: number): string {
  const digits = amount.padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const part = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return part === '' ? whole : `${whole}.${part}`;
}

/** The start and the end of a long id. */
export function short(text: string, keep = 8): string {
  const letters = [...text];
  if (letters.length <= 2 * keep + 1) return text;
  return `${letters.slice(0, keep).join('')}…${letters.slice(-keep).join('')}`;
}

/** Cents of a typed amount such as "4.50"; undefined when it is none. */
export function parseDollars(text: string): number | undefined {
  const match = /^\s*\$?\s*(\d{1,12})(?:[.,](\d{1,2}))?\s*$/.exec(text);
  if (match === null) return undefined;
  const [, whole = '0', part = ''] = match;
  return Number(whole) * 100 + Number(part.padEnd(2, '0'));
}

/** The amount as it is typed: "4.50". */
export const typedDollars = (cents: number): string => (cents / 100).toFixed(2);
