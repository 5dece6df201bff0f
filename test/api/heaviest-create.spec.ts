import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import { MAX_BODY_BYTES } from '../../shared/limits/bounds.js';
import { assertBothInvalid, client, formText } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { callText, postMcp } from '../support/mcp.js';
import { coffee, SESSIONS } from '../support/orders.js';

const MOST_HOSTS_A_TURN = 20;

describe('the largest valid create', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildMerchant(app.db));
  const api = forAllTests(() => client(app, shop.testKey));
  const json = JSON.stringify(heaviestCreate());
  afterEach(() => mock.restoreAll());

  const spellings: [how: string, text: string][] = [
    ['as JSON', json],
    ['as a form', formText(heaviestCreate())],
    ['as a form with every bracket and slash escaped', escapedForm()],
  ];
  for (const [how, text] of spellings) {
    it(`${how} is below the byte limit and succeeds`, async () => {
      assert.ok(text.length > 0.8 * MAX_BODY_BYTES && text.length <= MAX_BODY_BYTES, `${text.length} bytes`);
      const send = how === 'as JSON' ? api.post(SESSIONS, text) : api.form(SESSIONS, text);
      const { body } = await send.set('Idempotency-Key', how).expect(200);
      assert.equal(body.line_items.data.length, 100);
      assert.equal(body.amount_total, 100 * 999_999 * 999_999);
      assert.equal(body.line_items.data[99].price.product_data.images[7].length, 2048);
    });
  }

  it('is parsed once at /mcp, and its response not at all', async () => {
    const call = callText('create_checkout_session', json);
    const parse = mock.method(JSON, 'parse');
    const res = await postMcp(app, shop.testKey, call).buffer(true).parse(unparsed).expect(200);
    const parsed = parse.mock.calls.reduce((sum, { arguments: [text] }) => sum + String(text).length, 0);
    parse.mock.restore();
    assert.ok(parsed < call.length + 100_000, `${parsed} characters of ${call.length}`);
    const { result } = JSON.parse(String(res.body));
    assert.equal(result.structuredContent.line_items.data.length, 100);
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  });

  describe('with 800 images at internationalized host names', () => {
    /** Different letters in each name, which is slowest to parse. */
    const host = (seed: number, length: number): string =>
      String.fromCodePoint(...Array.from({ length }, (_, i) => 0x4e00 + ((seed * 3 + i * 7) % 20_000)));
    const withHosts = (hostOf: (seed: number) => string): object => ({
      line_items: Array.from({ length: 100 }, (_, index) => {
        const images = Array.from({ length: 8 }, (_, image) => `https://${hostOf(index * 8 + image)}/p.png`);
        return { price_data: { ...coffee.price_data, product_data: { name: 'A', images } } };
      }),
    });

    it('of 253 characters succeeds, parsing a few names per turn of the event loop', async () => {
      let inTurn = 0;
      let most = 0;
      let all = 0;
      const count = (text: string): void => {
        if (!/\P{ASCII}/u.test(text)) return;
        if (inTurn === 0) setImmediate(() => (inTurn = 0));
        inTurn += 1;
        all += 1;
        most = Math.max(most, inTurn);
      };
      const Real = globalThis.URL;
      globalThis.URL = class extends Real {
        constructor(text: string | URL, base?: string | URL) {
          count(String(text));
          super(text, base);
        }
      };
      try {
        await api
          .post(
            SESSIONS,
            withHosts((seed) => host(seed, 253)),
          )
          .expect(200);
      } finally {
        globalThis.URL = Real;
      }
      assert.equal(all, 800);
      assert.ok(most <= MOST_HOSTS_A_TURN, `${most} in one turn`);
    });

    const LAST = 'line_items[99][price_data][product_data][images][7]';
    it('is refused for one name that is too long or invalid', async () => {
      for (const wrong of [host(0, 254), 'ü<b', '\ufdfa']) {
        const body = withHosts((seed) => (seed === 799 ? wrong : host(seed, 9)));
        await assertBothInvalid(api, SESSIONS, body, 'url_invalid', LAST);
      }
    });
  });
});

/** The largest create request: each field at its maximum, in ASCII. */
function heaviestCreate(): object {
  const url = (length: number, end: string): string =>
    `https://img.example/${'p'.repeat(length - 20 - end.length)}${end}`;
  const item = (index: number): object => ({
    quantity: 999_999,
    price_data: {
      currency: 'usd',
      unit_amount: 999_999,
      product_data: {
        name: `${index}`.padStart(250, 'n'),
        description: `${index}`.padStart(500, 'd'),
        images: Array.from({ length: 8 }, (_, image) => url(2048, `/${index}/${image}`)),
      },
    },
  });
  return {
    mode: 'payment',
    line_items: Array.from({ length: 100 }, (_, index) => item(index)),
    success_url: url(5000, '{CHECKOUT_SESSION_ID}'),
    cancel_url: url(5000, '/back'),
    client_reference_id: 'r'.repeat(200),
    customer_email: `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`.slice(
      -254,
    ),
    metadata: Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`${index}`.padStart(40, 'k'), 'v'.repeat(500)]),
    ),
    payment_method_types: ['crypto'],
    expand: ['line_items'],
  };
}

/** `formText` with the escaping of browsers and SDKs. */
function escapedForm(): string {
  return formText(heaviestCreate())
    .split('&')
    .map((pair) => pair.split('=').map(decodeURIComponent).map(encodeURIComponent).join('='))
    .join('&');
}

function unparsed(res: NodeJS.EventEmitter, done: (error: Error | null, body: unknown) => void): void {
  const chunks: Buffer[] = [];
  res.on('data', (chunk: Buffer) => chunks.push(Buffer.from(chunk)));
  res.on('end', () => done(null, Buffer.concat(chunks).toString('utf8')));
}
