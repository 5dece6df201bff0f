import { coffee, minimal } from './orders.js';
import { EMOJI, TEXT_CASES, urlOf } from './session-fields.js';

const withProduct = (product: object) => ({
  line_items: [{ price_data: { unit_amount: 1, product_data: { name: 'A', ...product } } }],
});
const withAmount = (amount: object) => ({
  line_items: [{ price_data: { product_data: { name: 'A' }, ...amount } }],
});
export const items = (count: number) => Array.from({ length: count }, () => coffee);
export const keys = (count: number, length = 3) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [String(i).padStart(length, 'k').slice(-length), 'v']),
  );

const ITEM = 'line_items[0]';
const PRODUCT = `${ITEM}[price_data][product_data]`;

interface Limit {
  name: string;
  body(n: number): object;
  allowed: number[];
  refused: [value: number, code: string, param: string][];
}

const TEXT_LIMITS = Object.entries(TEXT_CASES).map(
  ([name, { ofLength, allowed, refused }]): Limit => ({
    name: `characters of ${name}`,
    body: (n) => ({ ...minimal, [name]: ofLength(n) }),
    allowed,
    refused: [[refused, 'parameter_invalid_string', name]],
  }),
);

/** The last value that is taken, and the first that is refused, for each field of a new session. */
export const SESSION_LIMITS: Limit[] = [
  {
    name: 'line items',
    body: (n) => ({ line_items: items(n) }),
    allowed: [1, 100],
    refused: [
      [0, 'parameter_missing', 'line_items'],
      [101, 'parameter_invalid', 'line_items'],
      [1000, 'parameter_invalid', 'line_items'],
    ],
  },
  {
    name: 'quantity',
    body: (quantity) => ({ line_items: [{ price_data: coffee.price_data, quantity }] }),
    allowed: [1, 999_999],
    refused: [-1, 0, 1_000_000].map((n) => [n, 'parameter_invalid_integer', `${ITEM}[quantity]`]),
  },
  {
    name: 'unit_amount',
    body: (n) => withAmount({ unit_amount: n }),
    allowed: [0, 99_999_999],
    refused: [-1, 100_000_000].map((n) => [
      n,
      'parameter_invalid_integer',
      `${ITEM}[price_data][unit_amount]`,
    ]),
  },
  {
    name: 'unit_amount_decimal',
    body: (n) => withAmount({ unit_amount_decimal: String(n) }),
    allowed: [0, 99_999_999],
    refused: [-1, 100_000_000].map((n) => [
      n,
      'parameter_invalid_integer',
      `${ITEM}[price_data][unit_amount_decimal]`,
    ]),
  },
  {
    name: 'characters of a product name',
    body: (n) => withProduct({ name: EMOJI.repeat(n) }),
    allowed: [1, 250],
    refused: [[251, 'parameter_invalid_string', `${PRODUCT}[name]`]],
  },
  {
    name: 'characters of a product description',
    body: (n) => withProduct({ description: EMOJI.repeat(n) }),
    allowed: [1, 500],
    refused: [[501, 'parameter_invalid_string', `${PRODUCT}[description]`]],
  },
  {
    name: 'images',
    body: (n) => withProduct({ images: Array.from({ length: n }, () => 'https://img.example/a.png') }),
    allowed: [0, 8],
    refused: [[9, 'parameter_invalid', `${PRODUCT}[images]`]],
  },
  {
    name: 'characters of an image URL',
    body: (n) => withProduct({ images: [urlOf(n)] }),
    allowed: [2048],
    refused: [[2049, 'parameter_invalid_string', `${PRODUCT}[images][0]`]],
  },
  ...TEXT_LIMITS,
  {
    name: 'keys of metadata',
    body: (n) => ({ ...minimal, metadata: keys(n) }),
    allowed: [0, 50],
    refused: [[51, 'parameter_invalid', 'metadata']],
  },
  {
    name: 'characters of a metadata key',
    body: (n) => ({ ...minimal, metadata: { [EMOJI.repeat(n)]: 'v' } }),
    allowed: [1, 40],
    refused: [[41, 'parameter_invalid_string', `metadata[${EMOJI.repeat(41)}]`]],
  },
  {
    name: 'characters of a metadata value',
    body: (n) => ({ ...minimal, metadata: { key: EMOJI.repeat(n) } }),
    allowed: [1, 500],
    refused: [[501, 'parameter_invalid_string', 'metadata[key]']],
  },
];
