import assert from 'node:assert/strict';
import { Event } from '../../../shared/webhooks/model.js';
import { formText } from '../../support/api-client.js';
import { forAllTests } from '../../support/hooks.js';
import {
  assertErrorShape,
  assertFine,
  assertInvalid,
  withoutIds,
} from '../../support/hostile-input/assert-answers.js';
import { openHostileClient } from '../../support/hostile-input/client.js';
import { COFFEE_FORM, coffee, HOOK_URL, JSON_TYPE, minimal } from '../../support/hostile-input/order.js';
import { ENDPOINTS, PAYMENTS, SESSIONS } from '../../support/orders.js';

describe('hostile input', () => {
  const web = forAllTests(openHostileClient);
  afterEach(() => web.assertUnharmed());

  describe('as a name', () => {
    for (const name of ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'prototype', 'then']) {
      it(`${name} is an unknown parameter at every level, in JSON, forms and queries`, async () => {
        const hostile = `"${name}":{"polluted":true}`;
        const items = (extra: { item?: string; price?: string; product?: string }): string =>
          `"line_items":[{"price_data":{"unit_amount":1,"product_data":{"name":"A"${extra.product ?? ''}}${extra.price ?? ''}}${extra.item ?? ''}}]`;
        const bodies: [text: string, param: string][] = [
          [`{${items({})},${hostile}}`, name],
          [`{${items({ item: `,${hostile}` })}}`, `line_items[0][${name}]`],
          [`{${items({ price: `,${hostile}` })}}`, `line_items[0][price_data][${name}]`],
          [`{${items({ product: `,${hostile}` })}}`, `line_items[0][price_data][product_data][${name}]`],
        ];
        for (const [text, param] of bodies) assertInvalid(await web.post(text), 'parameter_unknown', param);
        for (const [pair, param] of [
          [`${name}=1`, name],
          [`${name}[polluted]=1`, name],
          [`${name}[prototype][polluted]=1`, name],
          [`line_items[0][${name}]=1`, `line_items[0][${name}]`],
          [`line_items[0][${name}][polluted]=1`, `line_items[0][${name}]`],
          [`line_items[0][price_data][${name}][polluted]=1`, `line_items[0][price_data][${name}]`],
        ] as const) {
          assertInvalid(await web.form(`${COFFEE_FORM}&${pair}`), 'parameter_unknown', param);
        }
        const url = `{"url":"${HOOK_URL}",${hostile}}`;
        assertInvalid(await web.post(url, JSON_TYPE, ENDPOINTS), 'parameter_unknown', name);
        for (const path of [SESSIONS, PAYMENTS, ENDPOINTS]) {
          assertInvalid(await web.send({ path: `${path}?${name}=1` }), 'parameter_unknown', name);
          assertInvalid(await web.send({ path: `${path}?${name}[polluted]=1` }), 'parameter_unknown', name);
        }
        assertInvalid(
          await web.send({ path: `${SESSIONS}?created[${name}]=1` }),
          'parameter_unknown',
          `created[${name}]`,
        );
      });
    }
  });

  describe('as text', () => {
    const PRODUCT = 'line_items[0][price_data][product_data]';
    const withProduct = (product: object): object => ({
      line_items: [{ price_data: { unit_amount: 1, product_data: product } }],
    });
    const unreadable = ['a\0b', '\0', '\ud83d', 'a\udc00', '\udc00\ud83d'];
    const fields: [param: string, path: string, body: (text: string) => object][] = [
      ['client_reference_id', SESSIONS, (text) => ({ ...minimal, client_reference_id: text })],
      ['customer_email', SESSIONS, (text) => ({ ...minimal, customer_email: `a@mail.example${text}` })],
      ['success_url', SESSIONS, (text) => ({ ...minimal, success_url: `https://shop.example/${text}` })],
      ['cancel_url', SESSIONS, (text) => ({ ...minimal, cancel_url: `https://shop.example/${text}` })],
      ['metadata[key]', SESSIONS, (text) => ({ ...minimal, metadata: { key: text } })],
      [`${PRODUCT}[name]`, SESSIONS, (text) => withProduct({ name: text })],
      [`${PRODUCT}[description]`, SESSIONS, (text) => withProduct({ name: 'A', description: text })],
      [
        `${PRODUCT}[images][0]`,
        SESSIONS,
        (text) => withProduct({ name: 'A', images: [`https://img.example/${text}`] }),
      ],
      ['mode', SESSIONS, (text) => ({ ...minimal, mode: text })],
      ['expand[0]', SESSIONS, (text) => ({ ...minimal, expand: [text] })],
      ['payment_method_types[0]', SESSIONS, (text) => ({ ...minimal, payment_method_types: [text] })],
      [
        'line_items[0][price_data][currency]',
        SESSIONS,
        (text) => ({ line_items: [{ price_data: { ...coffee.price_data, currency: text } }] }),
      ],
      [
        'line_items[0][price_data][unit_amount_decimal]',
        SESSIONS,
        (text) => ({
          line_items: [{ price_data: { unit_amount_decimal: text, product_data: { name: 'A' } } }],
        }),
      ],
      ['metadata', SESSIONS, (text) => ({ ...minimal, metadata: { [text]: 'v' } })],
      ['url', ENDPOINTS, (text) => ({ url: `${HOOK_URL}/${text}` })],
      ['description', ENDPOINTS, (text) => ({ url: HOOK_URL, description: text })],
      ['enabled_events[0]', ENDPOINTS, (text) => ({ url: HOOK_URL, enabled_events: [text] })],
    ];
    for (const [param, path, body] of fields) {
      it(`that is invalid Unicode is refused in ${param}`, async () => {
        for (const text of unreadable) {
          assertInvalid(await web.json(body(text), path), 'parameter_invalid_string', param);
        }
        const inForm = formText(body('a\0b'));
        assertInvalid(await web.form(inForm, path), 'parameter_invalid_string', param);
      });
    }

    it('that is invalid Unicode is refused in unknown names, which are still reported', async () => {
      for (const name of unreadable) {
        const answer = await web.json({ ...minimal, [name]: 1 });
        assertInvalid(answer, 'parameter_unknown', name);
      }
    });

    it('of nearly 2 MiB is refused as too long in every field, before any costly check', async () => {
      const long = 'a'.repeat(2_000_000);
      const texts: [param: string, path: string, body: object][] = [
        ['customer_email', SESSIONS, { ...minimal, customer_email: `a@${long}` }],
        ['success_url', SESSIONS, { ...minimal, success_url: `https://shop.example/${long}` }],
        ['client_reference_id', SESSIONS, { ...minimal, client_reference_id: long }],
        ['metadata[a]', SESSIONS, { ...minimal, metadata: { a: long } }],
        [
          'line_items[0][price_data][unit_amount_decimal]',
          SESSIONS,
          { line_items: [{ price_data: { unit_amount_decimal: long, product_data: { name: 'A' } } }] },
        ],
        ['url', ENDPOINTS, { url: `https://shop.example/${long}` }],
        ['description', ENDPOINTS, { url: HOOK_URL, description: long }],
      ];
      for (const [param, path, body] of texts) {
        assertInvalid(await web.json(body, path), 'parameter_invalid_string', param);
        assertInvalid(await web.form(formText(body), path), 'parameter_invalid_string', param);
      }
      const { code, param = '' } = assertErrorShape(
        await web.json({ ...minimal, metadata: { [long]: 'v' } }),
      );
      assert.equal(code, 'parameter_invalid_string');
      assert.ok(param.startsWith('metadata[a') && param.length <= 300);
    });

    it('of any other kind, such as a name special in JavaScript, is returned unchanged everywhere', async () => {
      const texts = [
        ...['__proto__', 'constructor', 'hasOwnProperty', 'valueOf', '__defineGetter__', 'length', 'then'],
        ...['toJSON', '0', '-1'],
        '\u0001\u001f\u007f',
        'a\tb\r\nc',
        '\ufeffx',
        '\uffff\ufdd0',
        '\u202eevil\u2028',
        '👩‍👩‍👧‍👦',
        'e\u0301 é',
        "'; DROP TABLE checkout_sessions; --",
        '$' + '{jndi:ldap://x}',
        '<script>alert(1)</script>',
        '?',
        ':id',
        '??',
        '\\',
        '"',
        '{CHECKOUT_SESSION_ID}',
        ' leading and trailing ',
        '%00',
        '\\u0000',
      ];
      for (const text of texts) {
        const product = { name: text, description: text };
        const body = {
          line_items: [{ price_data: { unit_amount: 1, product_data: product } }],
          client_reference_id: text,
          metadata: { [text]: text },
          expand: ['line_items'],
        };
        const [asJson, asForm] = [await web.json(body), await web.form(formText(body))];
        const session = assertFine(asJson);
        assert.equal(session.client_reference_id, text);
        assert.deepEqual(session.metadata, { [text]: text });
        assert.equal(withoutIds(asForm.text), withoutIds(asJson.text));
        const again = await web.send({ path: `${SESSIONS}/${session.id}?expand[]=line_items` });
        assert.equal(again.text, asJson.text);
        const listed = await web.send({ path: `${SESSIONS}?limit=1&expand[]=data.line_items` });
        assert.ok(listed.text.includes(asForm.text));
        await web.post('', {}, `${SESSIONS}/${session.id}/expire`);
        const event = await Event.query(web.db).findOne({ payableId: session.id }).throwIfNotFound();
        assert.deepEqual(Reflect.get(event.object, 'metadata'), { [text]: text });
      }
    });
  });
});
