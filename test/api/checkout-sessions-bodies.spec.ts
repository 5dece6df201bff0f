import assert from 'node:assert/strict';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import { assertBothInvalid, assertInvalid, client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { coffee, minimal, SESSIONS } from '../support/orders.js';

describe('checkout sessions', () => {
  const app = forAllTests(openTestApp);
  const api = forAllTests(async () => client(app, (await buildMerchant(app.db)).testKey));

  describe('a body', () => {
    const missing: [param: string, body: object][] = [
      ['line_items', {}],
      ['line_items', { line_items: [] }],
      ['line_items[0][price_data]', { line_items: [{ quantity: 2 }] }],
      ['line_items[1][price_data]', { line_items: [coffee, { quantity: 2 }] }],
      ['line_items[0][price_data][product_data]', { line_items: [{ price_data: { unit_amount: 1 } }] }],
      [
        'line_items[0][price_data][unit_amount]',
        { line_items: [{ price_data: { product_data: { name: 'A' } } }] },
      ],
      ['line_items[0][price_data][product_data][name]', withProduct({ description: 'A' })],
    ];
    for (const [param, body] of missing) {
      it(`refuses ${JSON.stringify(body)}: ${param} is missing`, async () => {
        await assertBothInvalid(api, SESSIONS, body, 'parameter_missing', param);
      });
    }

    const unknown: [param: string, body: object][] = [
      ['customer', { ...minimal, customer: 'cus_1' }],
      ['customer', { ...minimal, customer: '' }],
      ['line_items[0][price]', { line_items: [{ ...coffee, price: 'price_1' }] }],
      [
        'line_items[0][price_data][recurring]',
        { line_items: [{ price_data: { ...coffee.price_data, recurring: { interval: 'day' } } }] },
      ],
      ['line_items[0][price_data][product_data][tax_code]', withProduct({ name: 'A', tax_code: 'x' })],
      ['constructor', { ...minimal, constructor: 'x' }],
    ];
    for (const [param, body] of unknown) {
      it(`refuses the unknown parameter ${param}`, async () => {
        await assertBothInvalid(api, SESSIONS, body, 'parameter_unknown', param);
      });
    }

    const wrong: [param: string, code: string, body: object][] = [
      ['line_items[0]', 'parameter_invalid', { line_items: ['coffee'] }],
      ['line_items[0][price_data]', 'parameter_invalid', { line_items: [{ price_data: 450 }] }],
      ['line_items[0][price_data][product_data][name]', 'parameter_invalid', withProduct({ name: 7 })],
      ['line_items[0][price_data][product_data][name]', 'parameter_invalid', withProduct({ name: ['A'] })],
      [
        'line_items[0][price_data][product_data][images]',
        'parameter_invalid',
        withProduct({ name: 'A', images: 'https://img.example/a.png' }),
      ],
      [
        'line_items[0][price_data][product_data][images][0]',
        'parameter_invalid',
        withProduct({ name: 'A', images: [7] }),
      ],
      [
        'line_items[0][price_data][currency]',
        'parameter_invalid_enum',
        { line_items: [{ price_data: { ...coffee.price_data, currency: 'eur' } }] },
      ],
      ['mode', 'parameter_invalid_enum', { ...minimal, mode: 'subscription' }],
      [
        'payment_method_types[1]',
        'parameter_invalid_enum',
        { ...minimal, payment_method_types: ['crypto', 'card'] },
      ],
      ['expand[0]', 'parameter_invalid_enum', { ...minimal, expand: ['customer'] }],
      ['expand[1]', 'parameter_invalid_enum', { ...minimal, expand: ['line_items', 'data.line_items'] }],
      ['expand', 'parameter_invalid', { ...minimal, expand: 'line_items' }],
      ['client_reference_id', 'parameter_invalid', { ...minimal, client_reference_id: { a: 'b' } }],
      ['success_url', 'parameter_invalid', { ...minimal, success_url: false }],
    ];
    for (const [param, code, body] of wrong) {
      it(`refuses ${JSON.stringify(body)} as ${code} on ${param}`, async () => {
        assertInvalid(await api.post(SESSIONS, body), code, param);
      });
    }

    for (const email of [
      'buyer',
      'buyer@',
      '@mail.example',
      'a b@mail.example',
      'a@b@mail.example',
      'Buyer <a@mail.example>',
      'a@mail.example,b@mail.example',
      'a@mail.example\n',
    ]) {
      it(`refuses the e-mail address ${JSON.stringify(email)}`, async () => {
        const body = { ...minimal, customer_email: email };
        await assertBothInvalid(api, SESSIONS, body, 'email_invalid', 'customer_email');
      });
    }

    for (const image of [
      'http://img.example/a.png',
      'data:image/png;base64,AA==',
      '/a.png',
      'a.png',
      'https://',
    ]) {
      it(`refuses the image ${image}`, async () => {
        const param = 'line_items[0][price_data][product_data][images][1]';
        const body = withProduct({ name: 'A', images: ['https://img.example/a.png', image] });
        await assertBothInvalid(api, SESSIONS, body, 'url_invalid', param);
      });
    }
  });

  describe('a form', () => {
    const item = (name: string, index = '[0]'): string =>
      `line_items${index}[price_data][unit_amount]=450&line_items${index}[price_data][product_data][name]=${name}`;

    it('may write an array as a[0]=, a[]= and, for one value, a=', async () => {
      for (const expand of ['expand[0]=line_items', 'expand[]=line_items', 'expand=line_items']) {
        const { body } = await api.form(SESSIONS, `${item('A')}&${expand}`).expect(200);
        assert.equal(body.line_items.data.length, 1);
      }
    });

    it('decodes + and %20 as spaces, and %2B as a plus', async () => {
      const { body } = await api.form(SESSIONS, `${item('A')}&client_reference_id=a+b%20c%2Bd`).expect(200);
      assert.equal(body.client_reference_id, 'a b c+d');
    });

    const refused: [why: string, text: string, code: string, param: string][] = [
      ['a value and brackets', 'metadata=1&metadata[a]=2', 'parameter_invalid', 'metadata'],
      ['brackets and a value', 'metadata[a]=2&metadata=1', 'parameter_invalid', 'metadata'],
      ['brackets on a scalar', 'client_reference_id[a]=1', 'parameter_invalid', 'client_reference_id'],
      ['an unknown nested name', 'foo[bar][0]=1', 'parameter_unknown', 'foo'],
    ];
    for (const [why, text, code, param] of refused) {
      it(`is refused for ${why}`, async () => {
        assertInvalid(await api.form(SESSIONS, `${item('A')}&${text}`), code, param);
      });
    }

    it('is refused for a question mark before its first name', async () => {
      assertInvalid(await api.form(SESSIONS, `?mode=payment&${item('A')}`), 'parameter_unknown', '?mode');
    });

    it('is refused for percent-encoding that is not UTF-8, lone surrogates included', async () => {
      for (const bytes of ['%FF', '%C3', '%ED%A0%80', '%ED%B0%80', '%C0%80']) {
        const { status, body } = await api.form(SESSIONS, `${item('A')}&client_reference_id=${bytes}`);
        assert.equal(status, 400, bytes);
        assert.ok(['malformed_body', 'parameter_invalid_string'].includes(body.error.code));
      }
    });
  });
});

function withProduct(productData: object): object {
  return { line_items: [{ price_data: { unit_amount: 1, product_data: productData } }] };
}
