import { buildMerchant } from '../world/shop/factories.js';
import { type Comparison, compareWithBaseline, type LoadOfRound, rateRow } from './load/compare.js';
import type { PreparedRequest } from './load/wrk.js';
import type { Row } from './report/benchmark.js';
import type { System } from './system/system.js';

const ORDER = {
  mode: 'payment',
  line_items: [
    {
      quantity: 2,
      price_data: {
        currency: 'usd',
        unit_amount: 1250,
        product_data: { name: 'Blue T-shirt', description: '100% cotton' },
      },
    },
  ],
  success_url: 'https://shop.example/thanks?id={CHECKOUT_SESSION_ID}',
  metadata: { order: 'A-1001' },
};

const THREE_ITEMS = new URLSearchParams(
  ['Blue T-shirt', 'Red T-shirt', 'Green T-shirt'].flatMap((name, index): [string, string][] => {
    const item = `line_items[${index}]`;
    return [
      [`${item}[quantity]`, '2'],
      [`${item}[price_data][currency]`, 'usd'],
      [`${item}[price_data][unit_amount]`, '1250'],
      [`${item}[price_data][product_data][name]`, name],
      [`${item}[price_data][product_data][description]`, '100% cotton'],
    ];
  }),
);

/** A create without its API key. Each request gets an Idempotency-Key of its own. */
export const CREATE = {
  method: 'POST',
  path: '/v1/checkout/sessions',
  headers: { 'Content-Type': 'application/json', 'Idempotency-Key': '{{n}}' },
  body: JSON.stringify(ORDER),
} as const satisfies PreparedRequest;

/** A create with all fields, as JSON, against one INSERT in bare Express, and in bare node:http. */
export function create(system: System): Promise<Row[]> {
  const comparisons = [
    { against: 'insert', figure: 'create', goal: 0.95 },
    { against: 'bare-insert', figure: 'create, bare http', goal: 1.1 },
  ] as const;
  return compareCreates(system, comparisons, {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(ORDER),
  });
}

/** Creates sessions of three items in Stripe's form encoding. */
export function createForm(system: System): Promise<Row[]> {
  return compareCreates(system, [{ against: 'insert', figure: 'create-form', goal: 0.85 }], {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: THREE_ITEMS.toString(),
  });
}

async function compareCreates(
  system: System,
  comparisons: readonly Comparison[],
  { headers, body }: Required<Pick<PreparedRequest, 'headers' | 'body'>>,
): Promise<Row[]> {
  const { testKey } = await buildMerchant(system.db);
  const web = await system.startWeb();
  const ours: PreparedRequest = {
    method: 'POST',
    path: '/v1/checkout/sessions',
    headers: { ...headers, Authorization: `Bearer ${testKey}`, 'Idempotency-Key': '{{n}}' },
    body,
  };
  const baseline: PreparedRequest = {
    method: 'POST',
    path: '/',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(ORDER),
  };
  const rows: Row[] = [];
  for (const { against, figure, goal } of comparisons) {
    const bare = await system.startBaseline(against);
    for (const connections of [50, 10]) {
      const load = (url: string, request: PreparedRequest): LoadOfRound => {
        return (seconds) => ({ url, requests: [request], connections, seconds });
      };
      const compared = await compareWithBaseline(load(web.url, ours), load(bare.url, baseline));
      rows.push({ ...rateRow(figure, compared, goal), connections });
    }
  }
  return rows;
}
