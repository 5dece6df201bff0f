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
  return {
    dollars: (cents) => usd.format(decimal(String(cents), 2)),
    tokens: (amount, decimals, symbol) => `${tokens.format(decimal(amount, decimals))}\u00a0${symbol}`,
    count: (number) => plain.format(number),
    time: (seconds) => `${time.format(new Date(seconds * 1000))} UTC`,
  };
}

function decimal(digits: string, decimals: number): `${number}` {
  const padded = digits.padStart(decimals + 1, '0');
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}` as `${number}`;
}
