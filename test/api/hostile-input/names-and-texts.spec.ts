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
import {
  COFFEE_FORM,
  coffee,
  HOOK_URL,
  JSON_ITEMS,
  JSON_TYPE,
  minimal,
} from '../../support/hostile-input/order.js';
import { ENDPOINTS, PAYMENTS, SESSIONS } from '../../support/orders.js';

describe('hostile input', () => {
  const web = forAllTests(openHostileClient);
  afterEach(() => web.assertUnharmed());

  describe('as a name', () => {
    const names = [
      '__proto__',
      'constructor',
      'hasOwnProperty',
      'toString',
      'valueOf',
      'prototype',
      '__defineGetter__',
      'length',
      'then',
      'toJSON',
      '0',
      '-1',
    ];

    it('that is special in JavaScript is an ordinary metadata key everywhere', async () => {
      const metadata = `{${names.map((name) => `"${name}":"v-${name}"`).join(',')}}`;
      const asJson = await web.post(`{"line_items":${JSON_ITEMS},"metadata":${metadata}}`);
      const asForm = await web.form(
        `${COFFEE_FORM}&${names.map((name) => `metadata[${name}]=v-${name}`).join('&')}`,
      );
      for (const answer of [asJson, asForm]) {
        const { id } = assertFine(answer);
        const metadataOf = (text: string): [string, unknown][] => {
          const { metadata: found } = JSON.parse(text);
          return Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1));
        };
        const expected = names
          .map((name): [string, unknown] => [name, `v-${name}`])
          .sort(([a], [b]) => (a < b ? -1 : 1));
        assert.deepEqual(metadataOf(answer.text), expected);
        assert.equal((await web.send({ path: `${SESSIONS}/${id}` })).text, answer.text);
        const listed = await web.send({ path: `${SESSIONS}?limit=10` });
        assert.ok(listed.text.includes(answer.text));
        const expired = await web.post('', {}, `${SESSIONS}/${id}/expire`);
        assert.deepEqual(metadataOf(expired.text), expected);
        const event = await Event.query(web.db).findOne({ payableId: id }).throwIfNotFound();
        assert.deepEqual(metadataOf(JSON.stringify(event.object)), expected);
      }
      assert.equal(withoutIds(asForm.text), withoutIds(asJson.text));
    });

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

    it('in brackets in a query is repeated in the error', async () => {
      assertInvalid(
        await web.send({ path: `${SESSIONS}?created[gte]=abc` }),
        'parameter_invalid_integer',
        'created[gte]',
      );
      assertInvalid(
        await web.send({ path: `${SESSIONS}?created[since]=1` }),
        'parameter_unknown',
        'created[since]',
      );
      assertInvalid(
        await web.send({ path: `${SESSIONS}?created=abc` }),
        'parameter_invalid_integer',
        'created',
      );
      assertInvalid(
        await web.send({ path: `${SESSIONS}?created=1&created[gte]=1` }),
        'parameter_invalid',
        'created',
      );
    });
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

    it('that is invalid Unicode is refused in queries', async () => {
      for (const [query, code, param] of [
        ['starting_after=%00', 'parameter_invalid_string', 'starting_after'],
        ['ending_before=cs_test_%00', 'parameter_invalid_string', 'ending_before'],
        ['status=open%00', 'parameter_invalid_string', 'status'],
        ['expand[]=%00', 'parameter_invalid_string', 'expand[0]'],
        ['limit=%00', 'parameter_invalid_integer', 'limit'],
        ['%00=1', 'parameter_unknown', '\0'],
      ] as const) {
        assertInvalid(await web.send({ path: `${SESSIONS}?${query}` }), code, param);
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

    it('of any other kind is returned unchanged', async () => {
      const texts = [
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
        await web.post('', {}, `${SESSIONS}/${session.id}/expire`);
        const event = await Event.query(web.db).findOne({ payableId: session.id }).throwIfNotFound();
        assert.deepEqual(Reflect.get(event.object, 'metadata'), { [text]: text });
      }
    });

    it('in success_url adds no header and no line to a response', async () => {
      for (const text of ['\r\nSet-Cookie: a=b', '\nx', '\u0085x', '\u2028x', '\tx', '\u007f', ' x', '\\x']) {
        for (const field of ['success_url', 'cancel_url']) {
          const url = `https://shop.example/${text}`;
          assertInvalid(await web.json({ ...minimal, [field]: url }), 'url_invalid', field);
          const encoded = encodeURIComponent(url);
          assertInvalid(await web.form(`${COFFEE_FORM}&${field}=${encoded}`), 'url_invalid', field);
        }
      }
      const harmless = 'https://shop.example/%0d%0aSet-Cookie:%20a=b';
      assert.equal(assertFine(await web.json({ ...minimal, success_url: harmless })).success_url, harmless);
    });
  });
});
