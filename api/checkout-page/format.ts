import { decimalText } from '../../shared/values/money.js';

/**
 * Numbers and times as a language writes them. Amounts come as digits, never as fractions: the largest have more
 * digits than a fraction could hold.
 */
export interface Formats {
  dollars(cents: number): string;
  /** From the token's smallest unit; at least two decimals, no zeros beyond. */
  tokens(amount: string, decimals: number, symbol: string): string;
  count(number: number): string;
  /** In UTC: the page's script puts it into the buyer's own time. */
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
  // Between words from right to left an amount would fall apart: its sign and its symbol would change sides.
  const whole = (amount: string): string =>
    RIGHT_TO_LEFT.has(language) ? `\u2066${amount.replaceAll(/[\u200e\u200f\u061c]/g, '')}\u2069` : amount;
  return {
    dollars: (cents) => whole(usd.format(decimalText(String(cents), 2))),
    tokens: (amount, decimals, symbol) =>
      whole(`${tokens.format(decimalText(amount, decimals))}\u00a0${symbol}`.trim()),
    count: (number) => plain.format(number),
    time: (seconds) => `${time.format(new Date(seconds * 1000))} UTC`,
  };
}
