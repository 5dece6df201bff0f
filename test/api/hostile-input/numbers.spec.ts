import assert from 'node:assert/strict';
import { formText } from '../../support/api-client.js';
import { forAllTests } from '../../support/hooks.js';
import { assertFine, assertInvalid } from '../../support/hostile-input/assert-answers.js';
import { openHostileClient } from '../../support/hostile-input/client.js';
import { COFFEE_FORM, HOOK_URL, JSON_ITEMS, JSON_TYPE } from '../../support/hostile-input/order.js';
import { ENDPOINTS, PAYMENTS, SESSIONS } from '../../support/orders.js';

describe('hostile input', () => {
  const web = forAllTests(openHostileClient);
  afterEach(() => web.assertUnharmed());

  describe('as a number', () => {
    const withQuantity = (raw: string): string =>
      `{"line_items":[{"quantity":${raw},"price_data":{"unit_amount":1,"product_data":{"name":"A"}}}]}`;
    const withAmount = (raw: string): string =>
      `{"line_items":[{"price_data":{"unit_amount":${raw},"product_data":{"name":"A"}}}]}`;
    const QUANTITY = 'line_items[0][quantity]';
    const AMOUNT = 'line_items[0][price_data][unit_amount]';

    for (const [raw, total] of [
      ['1.0', 1],
      ['1e3', 1000],
      ['1E+2', 100],
      ['100e-2', 1],
      ['999999', 999_999],
      ['1.00000000000000000000', 1],
    ] as const) {
      it(`${raw} in JSON is the integer ${total}`, async () => {
        assert.equal(assertFine(await web.post(withQuantity(raw))).amount_total, total);
      });
    }

    it('-0 in JSON is 0 cents, also in the response', async () => {
      for (const raw of ['-0', '-0.0', '-0e5']) {
        const answer = await web.post(withAmount(raw));
        assert.match(answer.text, /"amount_total":0,/);
        const { id } = assertFine(answer);
        assert.equal((await web.send({ path: `${SESSIONS}/${id}` })).text, answer.text);
      }
      assertInvalid(await web.post(withQuantity('-0')), 'parameter_invalid_integer', QUANTITY);
    });

    for (const raw of [
      '0',
      '-1',
      '1000000',
      '1.5',
      '1e-7',
      '1e400',
      '-1e400',
      '9007199254740992',
      '9007199254740993',
      '1e21',
      '9'.repeat(100_000),
      '"1"',
      '"NaN"',
      'true',
      'false',
      '[]',
      '[1]',
      '{}',
      '"1e3"',
    ]) {
      it(`${raw.slice(0, 20)} in JSON is not a quantity`, async () => {
        assertInvalid(await web.post(withQuantity(raw)), 'parameter_invalid_integer', QUANTITY);
      });
    }

    for (const raw of '-1 100000000 0.1 1e400 9007199254740992 "450" true [450] "Infinity"'.split(' ')) {
      it(`${raw} in JSON is not an amount`, async () => {
        assertInvalid(await web.post(withAmount(raw)), 'parameter_invalid_integer', AMOUNT);
      });
    }

    for (const raw of ['"5"', '"five"', '1.5', 'true', '[5]', '{"a":5}']) {
      it(`${raw} in JSON is not a time`, async () => {
        const body = `{"line_items":${JSON_ITEMS},"expires_at":${raw}}`;
        assertInvalid(await web.post(body), 'parameter_invalid_integer', 'expires_at');
      });
    }

    for (const text of [
      '1e3',
      '1.0',
      '%201',
      '1%20',
      '%2B1',
      '0x1',
      '1_000',
      '1,000',
      '%D9%A1',
      'NaN',
      'Infinity',
      '-Infinity',
      'null',
      'undefined',
      'true',
      '--1',
      '-',
      '1%0a',
      '%00',
      '9'.repeat(100_000),
      `-${'9'.repeat(400)}`,
    ]) {
      it(`${text.slice(0, 20)} in a form or a query is not an integer`, async () => {
        assertInvalid(
          await web.form(`${COFFEE_FORM}&line_items[0][quantity]=${text}`),
          'parameter_invalid_integer',
          QUANTITY,
        );
        const item = 'line_items[0][price_data][product_data][name]=A';
        assertInvalid(await web.form(`${item}&${AMOUNT}=${text}`), 'parameter_invalid_integer', AMOUNT);
        assertInvalid(
          await web.form(`${COFFEE_FORM}&expires_at=${text}`),
          'parameter_invalid_integer',
          'expires_at',
        );
        if (text.length > 10_000) return;
        for (const path of [SESSIONS, PAYMENTS, ENDPOINTS]) {
          assertInvalid(
            await web.send({ path: `${path}?limit=${text}` }),
            'parameter_invalid_integer',
            'limit',
          );
        }
        assertInvalid(
          await web.send({ path: `${SESSIONS}?created=${text}` }),
          'parameter_invalid_integer',
          'created',
        );
      });
    }

    for (const text of [
      '1.0',
      '1.5',
      '1e3',
      '-1',
      '+1',
      ' 1',
      '1\n',
      '٣',
      '0x1',
      'NaN',
      '1_0',
      '100000000',
      '9'.repeat(20),
    ]) {
      it(`${JSON.stringify(text)} is not a unit_amount_decimal`, async () => {
        const price = { unit_amount_decimal: text, product_data: { name: 'A' } };
        const param = 'line_items[0][price_data][unit_amount_decimal]';
        const body = { line_items: [{ price_data: price }] };
        assertInvalid(await web.json(body), 'parameter_invalid_integer', param);
        assertInvalid(await web.form(formText(body)), 'parameter_invalid_integer', param);
      });
    }
  });

  describe('as a boolean', () => {
    let id: string;
    before(async () => {
      ({ id } = assertFine(await web.json({ url: HOOK_URL }, ENDPOINTS)));
    });

    for (const text of ['yes', 'no', '1', '0', 'TRUE', 'True', 'on', 't', ' true', 'truefalse', 'null']) {
      it(`${JSON.stringify(text)} in a form is invalid`, async () => {
        const path = `${ENDPOINTS}/${id}`;
        assertInvalid(
          await web.form(`disabled=${encodeURIComponent(text)}`, path),
          'parameter_invalid',
          'disabled',
        );
      });
    }
    for (const raw of ['"true"', '"false"', '1', '0', '[true]', '{"a":true}']) {
      it(`${raw} in JSON is invalid`, async () => {
        const path = `${ENDPOINTS}/${id}`;
        assertInvalid(
          await web.post(`{"disabled":${raw}}`, JSON_TYPE, path),
          'parameter_invalid',
          'disabled',
        );
      });
    }
    it('in brackets or repeated is invalid', async () => {
      const path = `${ENDPOINTS}/${id}`;
      for (const text of ['disabled[]=true', 'disabled[a]=true', 'disabled=true&disabled=true']) {
        assertInvalid(await web.form(text, path), 'parameter_invalid', 'disabled');
      }
    });
  });
});
