import assert from 'node:assert/strict';
import { MARK } from '../../support/fuzz/hostile-values.js';
import { forAllTests } from '../../support/hooks.js';
import { assertErrorShape, assertFine, assertInvalid } from '../../support/hostile-input/assert-answers.js';
import { openHostileClient } from '../../support/hostile-input/client.js';
import {
  COFFEE_FORM,
  coffee,
  HOOK_URL,
  JSON_ITEMS,
  JSON_TYPE,
  minimal,
} from '../../support/hostile-input/order.js';
import { ENDPOINTS, SESSIONS } from '../../support/orders.js';

describe('hostile input', () => {
  const web = forAllTests(openHostileClient);
  afterEach(() => web.assertUnharmed());

  describe('as JSON', () => {
    for (const text of [
      'null',
      '"text"',
      '1',
      'true',
      '[]',
      `[${JSON.stringify(minimal)}]`,
      '{',
      '{}{}',
      '{"line_items": []}}',
      'undefined',
      "{'line_items': []}",
      '{"line_items": [],}',
      '{"line_items": NaN}',
      '{"line_items": [Infinity]}',
      '{"line_items": undefined}',
      '{"line_items": 01}',
      '{"line_items": +1}',
      '{"line_items": 0x10}',
      '{"line_items": .5}',
      '{"line_items": "\u0001"}',
      '// comment\n{}',
      '\0{}',
    ]) {
      it(`${JSON.stringify(text).slice(0, 50)} is malformed`, async () => {
        assertInvalid(await web.post(text), 'malformed_body');
      });
    }

    it('15 levels deep is refused by parameter name', async () => {
      const nest = (open: string, end: string): string => open.repeat(15) + end.repeat(15);
      const arrays = nest('[', ']');
      const objects = `${'{"a":'.repeat(15)}1${'}'.repeat(15)}`;
      for (const deep of [arrays, objects]) {
        const items = `"line_items":${JSON_ITEMS}`;
        assertInvalid(
          await web.post(`{${items},"metadata":{"a":${deep}}}`),
          'parameter_invalid',
          'metadata[a]',
        );
        assertInvalid(await web.post(`{${items},"nothing":${deep}}`), 'parameter_unknown', 'nothing');
        assertInvalid(await web.post(`{${items},"mode":${deep}}`), 'parameter_invalid', 'mode');
        assertInvalid(
          await web.post(`{${items},"expires_at":${deep}}`),
          'parameter_invalid_integer',
          'expires_at',
        );
      }
      assertInvalid(await web.post(`{"line_items":${arrays}}`), 'parameter_invalid', 'line_items[0]');
      assertInvalid(await web.post(`{"line_items":${objects}}`), 'parameter_invalid', 'line_items');
      assertInvalid(await web.post(arrays), 'malformed_body');
      assertInvalid(
        await web.post(`{"url":"${HOOK_URL}","enabled_events":${arrays}}`, JSON_TYPE, ENDPOINTS),
        'parameter_invalid_enum',
        'enabled_events[0]',
      );
    });

    it('with repeated keys uses the last one, like JSON.parse', async () => {
      const session = assertFine(
        await web.post(`{"line_items":[],"mode":"x","line_items":${JSON_ITEMS},"mode":"payment"}`),
      );
      assert.equal(session.amount_total, 450);
    });

    it('with 19,000 elements where few are expected is refused', async () => {
      const many = (value: unknown): unknown[] => Array.from({ length: 19_000 }, () => value);
      assertInvalid(await web.json({ line_items: many(1) }), 'parameter_invalid', 'line_items');
      assertInvalid(await web.json({ ...minimal, expand: many('x') }), 'parameter_invalid_enum', 'expand[0]');
      const events = { url: HOOK_URL, enabled_events: many('*') };
      assert.deepEqual(assertFine(await web.json(events, ENDPOINTS)).enabled_events, ['*']);
    });

    const wrongTypes: [path: string, body: object, code: string, param: string][] = [
      [SESSIONS, { line_items: {} }, 'parameter_invalid', 'line_items'],
      [SESSIONS, { line_items: { 0: coffee } }, 'parameter_invalid', 'line_items'],
      [SESSIONS, { line_items: 'x' }, 'parameter_invalid', 'line_items'],
      [SESSIONS, { line_items: [[coffee]] }, 'parameter_invalid', 'line_items[0]'],
      [SESSIONS, { line_items: [coffee, null] }, 'parameter_invalid_empty', 'line_items[1]'],
      [SESSIONS, { line_items: [{ price_data: [] }] }, 'parameter_invalid', 'line_items[0][price_data]'],
      [SESSIONS, { ...minimal, metadata: [] }, 'parameter_invalid', 'metadata'],
      [SESSIONS, { ...minimal, metadata: ['x'] }, 'parameter_invalid', 'metadata'],
      [SESSIONS, { ...minimal, metadata: 'x' }, 'parameter_invalid', 'metadata'],
      [SESSIONS, { ...minimal, metadata: { a: 1 } }, 'parameter_invalid', 'metadata[a]'],
      [SESSIONS, { ...minimal, metadata: { a: ['x'] } }, 'parameter_invalid', 'metadata[a]'],
      [SESSIONS, { ...minimal, metadata: { a: {} } }, 'parameter_invalid', 'metadata[a]'],
      [SESSIONS, { ...minimal, customer_email: ['a@b.example'] }, 'parameter_invalid', 'customer_email'],
      [ENDPOINTS, { url: [HOOK_URL] }, 'parameter_invalid', 'url'],
      [ENDPOINTS, { url: { href: HOOK_URL } }, 'parameter_invalid', 'url'],
      [ENDPOINTS, { url: HOOK_URL, enabled_events: '*' }, 'parameter_invalid', 'enabled_events'],
      [ENDPOINTS, { url: HOOK_URL, enabled_events: {} }, 'parameter_invalid', 'enabled_events'],
      [
        ENDPOINTS,
        { url: HOOK_URL, enabled_events: ['*', null] },
        'parameter_invalid_empty',
        'enabled_events[1]',
      ],
      [ENDPOINTS, { url: HOOK_URL, enabled_events: [['*']] }, 'parameter_invalid_enum', 'enabled_events[0]'],
      [
        ENDPOINTS,
        { url: HOOK_URL, enabled_events: ['charge.paid'] },
        'parameter_invalid_enum',
        'enabled_events[0]',
      ],
      [ENDPOINTS, { url: HOOK_URL, description: 1 }, 'parameter_invalid', 'description'],
    ];
    for (const [path, body, code, param] of wrongTypes) {
      it(`${JSON.stringify(body).replaceAll(MARK, '').slice(0, 90)} is ${code} on ${param}`, async () => {
        assertInvalid(await web.json(body, path), code, param);
      });
    }
  });

  describe('as a form', () => {
    const item = (name: string): string =>
      `${name}[price_data][unit_amount]=1&${name}[price_data][product_data][name]=A`;
    const refused: [text: string, code: string, param: string][] = [
      ['line_items[5][quantity]=1', 'parameter_missing', 'line_items[5][price_data]'],
      [
        'line_items[5][price_data][unit_amount]=1&line_items[5][price_data][product_data][images][7]=x&line_items[5][price_data][product_data][name]=A',
        'url_invalid',
        'line_items[5][price_data][product_data][images][7]',
      ],
      [
        `${item('line_items[0]')}&line_items[9][price_data]=`,
        'parameter_invalid_empty',
        'line_items[9][price_data]',
      ],
      [
        `${item('line_items[2]')}&${item('line_items[1]')}&line_items[1][quantity]=0`,
        'parameter_invalid_integer',
        'line_items[1][quantity]',
      ],
      [
        'line_items[7][price_data][product_data][name]=A',
        'parameter_missing',
        'line_items[7][price_data][unit_amount]',
      ],
      [
        `${item('line_items[3]')}&line_items[3][price_data][unit_amount_decimal]=1`,
        'parameters_exclusive',
        'line_items[3][price_data][unit_amount_decimal]',
      ],
      [item('line_items[x]'), 'parameter_invalid', 'line_items'],
      [item('line_items[-1]'), 'parameter_invalid', 'line_items'],
      [item('line_items[1e3]'), 'parameter_invalid', 'line_items'],
      [item('line_items[1.0]'), 'parameter_invalid', 'line_items'],
      [item('line_items[0x1]'), 'parameter_invalid', 'line_items'],
      [item('line_items[%201]'), 'parameter_invalid', 'line_items'],
      [item('line_items[%D9%A1]'), 'parameter_invalid', 'line_items'],
      [item('line_items[99999999999]'), 'parameter_invalid', 'line_items'],
      [item('line_items[__proto__]'), 'parameter_invalid', 'line_items'],
      [`${item('line_items[0]')}&${item('line_items[length]')}`, 'parameter_invalid', 'line_items'],
      [`${item('line_items[0]')}&line_items=x`, 'parameter_invalid', 'line_items'],
      ['line_items=', 'parameter_invalid_empty', 'line_items'],
      ['line_items[]=', 'parameter_invalid_empty', 'line_items[0]'],
      ['line_items[]=x', 'parameter_invalid', 'line_items[0]'],
      ['line_items[0]=x', 'parameter_invalid', 'line_items[0]'],
      ['line_items', 'parameter_invalid_empty', 'line_items'],
      [`${COFFEE_FORM}&metadata=x`, 'parameter_invalid', 'metadata'],
      // JSON's ["x"] is refused for metadata, so its form is too.
      [`${COFFEE_FORM}&metadata[]=x`, 'parameter_invalid', 'metadata'],
      [`${COFFEE_FORM}&metadata[a][b]=x`, 'parameter_invalid', 'metadata[a]'],
      [`${COFFEE_FORM}&metadata[a][]=x`, 'parameter_invalid', 'metadata[a]'],
      [`${COFFEE_FORM}&metadata[a]=1&metadata[b]=2&metadata[a]=1`, 'parameter_invalid', 'metadata[a]'],
      [`${COFFEE_FORM}&mode=payment&mode=`, 'parameter_invalid', 'mode'],
      [`${COFFEE_FORM}&expand[0]=line_items&expand[0]=line_items`, 'parameter_invalid', 'expand[0]'],
      [`${COFFEE_FORM}&expand=line_items&expand=line_items`, 'parameter_invalid', 'expand'],
      [`${COFFEE_FORM}&expand[a]=line_items`, 'parameter_invalid', 'expand'],
      [`${COFFEE_FORM}&mode[]=payment`, 'parameter_invalid', 'mode'],
      [`${COFFEE_FORM}&metadata[a=1`, 'parameter_unknown', 'metadata[a'],
      [`${COFFEE_FORM}&metadata]a[=1`, 'parameter_unknown', 'metadata]a['],
      [`${COFFEE_FORM}&metadata[a]b=1`, 'parameter_unknown', 'metadata[a]b'],
      [`${COFFEE_FORM}&[metadata]=1`, 'parameter_unknown', '[metadata]'],
      [`${COFFEE_FORM}&%00=1`, 'parameter_unknown', '\0'],
      [`${COFFEE_FORM}&metadata%00=1`, 'parameter_unknown', 'metadata\0'],
      [`${COFFEE_FORM};mode=payment&x=1`, 'parameter_unknown', 'x'],
    ];
    for (const [text, code, param] of refused) {
      it(`${text.replace(COFFEE_FORM, '…').slice(0, 90)} is ${code} on ${JSON.stringify(param)}`, async () => {
        assertInvalid(await web.form(text), code, param);
      });
    }

    it('of names nested 15 deep, long names, and unterminated names', async () => {
      const deep = '[a]'.repeat(15);
      assertInvalid(await web.form(`${COFFEE_FORM}&metadata${deep}=1`), 'parameter_invalid', 'metadata[a]');
      assertInvalid(await web.form(`${COFFEE_FORM}&nothing${deep}=1`), 'parameter_unknown', 'nothing');
      assertInvalid(
        await web.form(`line_items${'[0]'.repeat(15)}=1`),
        'parameter_missing',
        'line_items[0][price_data]',
      );
      for (const name of ['x'.repeat(1_000_000), 'x[y'.repeat(15), '[]'.repeat(15), '😀'.repeat(100_000)]) {
        const { code, param = '' } = assertErrorShape(
          await web.form(`${COFFEE_FORM}&${encodeURIComponent(name)}=1`),
        );
        assert.equal(code, 'parameter_unknown');
        assert.ok(
          param.length > 0 && param.length <= 300 && name.startsWith(param.replace(/[\ud800-\udbff]$/, '')),
        );
      }
    });

    it('with gaps, any order of indexes, and an index of nine digits', async () => {
      const text = ['line_items[999999999]', 'line_items[0]', 'line_items[10]', 'line_items[9]']
        .map((name, i) => item(name).replace('=A', `=${i}`))
        .join('&');
      const session = assertFine(await web.form(`${text}&expand=line_items`));
      const { data } = session.line_items as { data: { description: string }[] };
      assert.deepEqual(
        data.map(({ description }) => description),
        ['1', '3', '2', '0'],
      );
    });

    it('with a percent sign that starts no escape keeps it', async () => {
      for (const text of ['100%', '%ZZ', '%', '%4', '%%41']) {
        const session = assertFine(await web.form(`${COFFEE_FORM}&client_reference_id=${text}`));
        assert.equal(session.client_reference_id, text.replace('%41', 'A'));
      }
    });
  });
});
