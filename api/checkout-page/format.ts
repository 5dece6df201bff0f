import { decimalText, dollarText } from '../../shared/values/money.js';

/**
 * Formats numbers and times for a language. Amounts are decimal strings, since the largest have more digits than a
 * double.
 */
export interface Formats {
  dollars(cents: number): string;
  /** `amount` is in the token's smallest unit. At least two decimals, no further trailing zeros. */
  tokens(amount: string, decimals: number, symbol: string): string;
  count(number: number): string;
  /** `USDC or USDT`. */
  either(names: readonly string[]): string;
  /** `Base, Solana and Polygon`. */
  all(names: readonly string[]): string;
  /** Formats a time in UTC; the script of the page converts it to local time. */
  time(seconds: number): string;
}

const TIME: Intl.DateTimeFormatOptions = {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
};

const RIGHT_TO_LEFT = new Set(['ar']);
const KNOWN = new Map<string, Formats>();

export function formatsOf(language: string): Formats {
  const known = KNOWN.get(language) ?? createFormats(language);
  KNOWN.set(language, known);
  return known;
}

function createFormats(language: string): Formats {
  const usd = new Intl.NumberFormat(language, { style: 'currency', currency: 'USD' });
  const plain = new Intl.NumberFormat(language);
  const tokens = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 18 });
  const time = new Intl.DateTimeFormat(language, TIME);
  // British English puts no comma before the last name.
  const lists = (type: 'conjunction' | 'disjunction'): Intl.ListFormat =>
    new Intl.ListFormat(language === 'en' ? 'en-GB' : language, { type });
  // Isolates an amount in right-to-left text, which would otherwise reorder its sign and symbol.
  const isolate = (amount: string): string =>
    RIGHT_TO_LEFT.has(language) ? `\u2066${amount.replaceAll(/[\u200e\u200f\u061c]/g, '')}\u2069` : amount;
  return {
    dollars: (cents) => isolate(usd.format(dollarText(cents))),
    tokens: (amount, decimals, symbol) =>
      isolate(`${tokens.format(decimalText(amount, decimals))}\u00a0${symbol}`.trim()),
    count: (number) => plain.format(number),
    either: (names) => lists('disjunction').format(names),
    all: (names) => lists('conjunction').format(names),
    time: (seconds) => `${time.format(new Date(seconds * 1000))} UTC`,
  };
}
