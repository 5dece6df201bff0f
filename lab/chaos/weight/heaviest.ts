/** The largest accepted request bodies, and the most expensive refused ones. */
const ITEMS = 100;
const IMAGES = 8;
const MIB = 1024 * 1024;

/** The body limit is 2 MiB; the remainder leaves space for the other fields. */
const LEGAL_BYTES = 2 * MIB - 64 * 1024;

/** A session of full size: every item has every field, with image URLs up to the body limit. */
export function fullSession(imageAt: (n: number) => string): object {
  const text = { name: 'ß'.repeat(250), description: 'é'.repeat(500) };
  const perItem = Math.floor(LEGAL_BYTES / ITEMS) - Buffer.byteLength(JSON.stringify(text)) - 200;
  const length = Math.min(2048, Math.floor(perItem / IMAGES) - 4);
  return {
    line_items: Array.from({ length: ITEMS }, (_, item) => ({
      quantity: 1,
      price_data: {
        unit_amount: 450,
        product_data: {
          ...text,
          images: Array.from({ length: IMAGES }, (__, n) =>
            `${imageAt(item * IMAGES + n)}?`.padEnd(length, 'x'),
          ),
        },
      },
    })),
    metadata: Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [`key-${n}`.padEnd(40, 'k'), 'v'.repeat(500)]),
    ),
    success_url: `https://shop.example/?${'s'.repeat(4900)}`,
  };
}

/** Hosts that are slow to parse: many different letters outside of ASCII. */
export function hostileHosts(count: number): object {
  const letters = Array.from({ length: 200 }, (_, n) => String.fromCodePoint(0x4e00 + n * 7)).join('');
  const images = Array.from({ length: IMAGES }, () => `https://${letters}.example/a.png`);
  return {
    line_items: Array.from({ length: Math.ceil(count / IMAGES) }, () => ({
      price_data: { unit_amount: 1, product_data: { name: 'x', images } },
    })),
  };
}

interface Body {
  type: 'application/json' | 'application/x-www-form-urlencoded';
  text: string;
}

const json = (text: string): Body => ({ type: 'application/json', text });
const form = (text: string): Body => ({ type: 'application/x-www-form-urlencoded', text });
const fill = (open: string, part: string, close: string): string =>
  open +
  Array(Math.floor((2 * MIB - 100) / (part.length + 1)))
    .fill(part)
    .join(',') +
  close;

/** Bodies of 2 MiB each that are slow to parse. */
export const REFUSED: Record<string, Body> = {
  'empty objects': json(fill('{"line_items":[', '{}', ']}')),
  'many keys': json(`{${Array.from({ length: 180_000 }, (_, n) => `"k${n}":0`).join(',')}}`),
  'many values': json(`{"metadata":{${Array.from({ length: 170_000 }, (_, n) => `"k${n}":""`).join(',')}}}`),
  'deep arrays': json(`{"a":${'['.repeat(MIB - 10)}${']'.repeat(MIB - 10)}}`),
  'percent signs': form(`name=${'%'.repeat(2 * MIB - 100)}`),
  'half escapes': form(`name=${'%C3%'.repeat(MIB / 2 - 100)}`),
  pairs: form(Array.from({ length: 180_000 }, (_, n) => `a[${n}]=b`).join('&')),
};
