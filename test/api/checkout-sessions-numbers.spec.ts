import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import { assertInvalid, client, withoutIds } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { coffee, minimal } from '../support/orders.js';
import { stopClock } from '../support/stopped-clock.js';

const SESSIONS = '/v1/checkout/sessions';

describe('checkout sessions', () => {
  const app = forAllTests(openTestApp);
  const api = forAllTests(async () => client(app, (await buildMerchant(app.db)).testKey));
  afterEach(() => mock.restoreAll());

  describe('a number', () => {
    const numbers: [param: string, body: (value: unknown) => object][] = [
      ['line_items[0][quantity]', (quantity) => ({ line_items: [{ ...coffee, quantity }] })],
      [
        'line_items[0][price_data][unit_amount]',
        (amount) => ({ line_items: [{ price_data: { ...coffee.price_data, unit_amount: amount } }] }),
      ],
      ['expires_at', (expiresAt) => ({ ...minimal, expires_at: expiresAt })],
    ];
    for (const [param, body] of numbers) {
      for (const value of ['5', 'five', 1.5, true, [5], { a: 5 }]) {
        it(`refuses ${JSON.stringify(value)} in JSON for ${param}`, async () => {
          assertInvalid(await api.post(SESSIONS, body(value)), 'parameter_invalid_integer', param);
        });
      }
      for (const text of [
        'five',
        '1.5',
        '1.0',
        '1e3',
        '+5',
        ' 5',
        '5 ',
        '0x10',
        '1_000',
        '1,000',
        '٥',
        'Infinity',
        'NaN',
        '9'.repeat(400),
      ]) {
        it(`refuses ${JSON.stringify(text.slice(0, 20))} in a form for ${param}`, async () => {
          assertInvalid(await api.form(SESSIONS, body(text)), 'parameter_invalid_integer', param);
        });
      }
    }

    for (const [given, code] of [
      ['-1', 'parameter_invalid_integer'],
      ['1.5', 'parameter_invalid_integer'],
      ['1e3', 'parameter_invalid_integer'],
      [' 1', 'parameter_invalid_integer'],
      ['one', 'parameter_invalid_integer'],
    ] as const) {
      it(`refuses ${JSON.stringify(given)} as unit_amount_decimal`, async () => {
        const body = {
          line_items: [{ price_data: { unit_amount_decimal: given, product_data: { name: 'A' } } }],
        };
        for (const send of ['post', 'form'] as const) {
          assertInvalid(
            await api[send](SESSIONS, body),
            code,
            'line_items[0][price_data][unit_amount_decimal]',
          );
        }
      });
    }

    it('as unit_amount_decimal equals the same unit_amount', async () => {
      stopClock();
      const decimal = {
        line_items: [{ price_data: { unit_amount_decimal: '450', product_data: { name: 'Coffee' } } }],
      };
      const expected = withoutIds(await api.post(SESSIONS, { ...minimal, expand: ['line_items'] }));
      for (const send of ['post', 'form'] as const) {
        assert.equal(withoutIds(await api[send](SESSIONS, { ...decimal, expand: ['line_items'] })), expected);
      }
    });

    it('is refused in unit_amount_decimal as a JSON number', async () => {
      const body = {
        line_items: [{ price_data: { unit_amount_decimal: 450, product_data: { name: 'A' } } }],
      };
      const param = 'line_items[0][price_data][unit_amount_decimal]';
      assertInvalid(await api.post(SESSIONS, body), 'parameter_invalid', param);
    });

    it('is refused when both amounts are sent, even if they are equal or zero', async () => {
      for (const [amount, decimal] of [
        [450, '450'],
        [0, '0'],
        [1, '2'],
      ]) {
        const priceData = { unit_amount: amount, unit_amount_decimal: decimal, product_data: { name: 'A' } };
        const body = { line_items: [coffee, { price_data: priceData }] };
        for (const send of ['post', 'form'] as const) {
          const res = await api[send](SESSIONS, body);
          assertInvalid(res, 'parameters_exclusive', 'line_items[1][price_data][unit_amount_decimal]');
        }
      }
    });
  });
});
