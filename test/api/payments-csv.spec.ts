import assert from 'node:assert/strict';
import request, { type Test } from 'supertest';
import { paymentOperations } from '../../api/v1/payments/operations.js';
import { buildPaidSession, buildSession } from '../../lab/world/shop/factories.js';
import { findPrincipal } from '../../shared/accounts/api-keys.js';
import { ANSWER_PIECE_BYTES, TABLE_PART_ROWS } from '../../shared/limits/bounds.js';
import type { Payment } from '../../shared/payments/model.js';
import { OUTCOME_UNKNOWN } from '../../shared/payments/states.js';
import { createdAt } from '../../shared/values/ids.js';
import { askCsv, assertInvalid, assertUnauthenticated } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { buildShop } from '../support/shop.js';

const MANY = 5_000;
const HEAD =
  'id,created,settled_at,status,amount,currency,token,token_amount,network,network_name,payer,pay_to,channel,transaction,transaction_url,checkout_session,livemode,failure_code';

describe('the payments as CSV', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildShop(app));

  const ask = (path: string, { testKey: key } = shop, accept = 'text/csv'): Test =>
    askCsv(app, key, path, accept);
  const rowsOf = ({ text }: { text: string }): string[] => text.split('\r\n').slice(1, -1);

  it('have one line each below a header line, newest first', async () => {
    const settledAt = new Date('2026-03-01T10:20:30.456Z');
    const { payment, session } = await buildPaidSession(app.db, shop.accountId, { settledAt });
    await buildPaidSession(app.db, shop.accountId, { livemode: true });
    const { payment: second } = await buildPaidSession(app.db, shop.accountId, {
      amountCents: 7,
      tokenAmount: '70000',
      payer: null,
      transaction: null,
      settledAt: null,
    });
    await buildPaidSession(app.db, shop.accountId, { status: 'failed' });
    const res = await ask('/v1/payments').expect(200);
    assert.equal(res.get('Content-Type'), 'text/csv; charset=utf-8');
    const time = ({ id }: Payment): string => `${createdAt(id).toISOString().slice(0, 19)}Z`;
    const { transaction, payer, payTo } = payment;
    assert.deepEqual(res.text.split('\r\n'), [
      HEAD,
      `${second.id},${time(second)},,succeeded,0.07,usd,USDC,0.070000,eip155:84532,Base Sepolia,,${payTo},x402,,,${second.payableId},false,`,
      `${payment.id},${time(payment)},2026-03-01T10:20:30Z,succeeded,4.50,usd,USDC,4.500000,eip155:84532,Base Sepolia,${payer},${payTo},x402,${transaction},https://sepolia.basescan.org/tx/${transaction},${session.id},false,`,
      '',
    ]);
  });

  it('tell of a failed payment whether its money may have moved', async () => {
    const other = await buildShop(app);
    for (const failureCode of ['insufficient_funds', OUTCOME_UNKNOWN])
      await buildPaidSession(app.db, other.accountId, { status: 'failed', failureCode });
    const { text } = await ask('/v1/payments?status=failed', other).expect(200);
    const codes = text.split('\r\n').map((line) => line.split(',').at(-1));
    assert.deepEqual(codes, ['failure_code', OUTCOME_UNKNOWN, 'insufficient_funds', '']);
  });

  it('contain nothing that a spreadsheet would execute or split into cells', async () => {
    const other = await buildShop(app);
    const words = ['=1+1', '+1', '-1', '@A1', '\tx', '\rx', 'a,b', 'say "hi"', 'two\nlines', 'plain'];
    for (const payer of words) await buildPaidSession(app.db, other.accountId, { payer });
    const { text } = await ask('/v1/payments', other).expect(200);
    const written = [
      "'=1+1",
      "'+1",
      "'-1",
      "'@A1",
      "'\tx",
      `"'\rx"`,
      '"a,b"',
      '"say ""hi"""',
      '"two\nlines"',
    ];
    for (const [index, cell] of [...written, 'plain'].entries())
      assert.ok(text.includes(`,Base Sepolia,${cell},0x`), words[index]);
  });

  it('apply the same filters and contain all matches; paging is refused', async () => {
    const other = await buildShop(app);
    const { payment } = await buildPaidSession(app.db, other.accountId);
    const second = Math.floor(createdAt(payment.id).getTime() / 1000);
    for (const [filter, count] of [
      [`created=${second}`, 1],
      [`created[gte]=${second}&created[lt]=${second + 1}`, 1],
      [`created[gt]=${second}`, 0],
    ] as const) {
      assert.equal(rowsOf(await ask(`/v1/payments?${filter}`, other).expect(200)).length, count, filter);
      const { body } = await other.test.get(`/v1/payments?${filter}`).expect(200);
      assert.equal(body.data.length, count, filter);
    }
    for (const param of ['limit', 'starting_after', 'ending_before'])
      assertInvalid(await ask(`/v1/payments?${param}=10`, other), 'parameter_unknown', param);
    assertInvalid(
      await ask('/v1/payments?created[gte]=x', other),
      'parameter_invalid_integer',
      'created[gte]',
    );
  });

  it('are served when the Accept header prefers CSV to JSON', async () => {
    const typeOf = async (accept: string, path = '/v1/payments'): Promise<string | undefined> =>
      (await ask(path, shop, accept).expect(200)).get('Content-Type')?.split(';', 1)[0];
    assert.equal(await typeOf('application/json;q=0.5, text/csv'), 'text/csv');
    assert.equal(await typeOf('application/json, text/csv;q=0.9'), 'application/json');
    // Operations without CSV.
    assert.equal(await typeOf('text/csv', '/v1/checkout/sessions'), 'application/json');
    const head = await request(app.server)
      .head('/v1/payments')
      .set('Authorization', `Bearer ${shop.testKey}`)
      .set('Accept', 'text/csv')
      .expect(200);
    assert.equal(head.get('Content-Type'), 'text/csv; charset=utf-8');
    assertUnauthenticated(
      await request(app.server).get('/v1/payments').accept('text/csv'),
      'api_key_missing',
    );
  });

  it('are a header line alone when there are none', async () => {
    assert.equal((await ask('/v1/payments', await buildShop(app)).expect(200)).text, `${HEAD}\r\n`);
  });

  describe(`of ${MANY}`, () => {
    const big = forAllTests(() => buildShop(app));
    let ids: string[];
    before(async () => {
      const { id: sessionId } = await buildSession(app.db, big.accountId);
      const { rows } = await app.db.raw(
        `INSERT INTO payments (id, payable_id, account_id, livemode, status, amount_cents, token,
           token_amount, token_decimals, network, payer, pay_to, channel, transaction, settled_at, asset, payload_key,
           requirements, payload, valid_until, claimed_at)
         SELECT 'pay_' || lpad(n::text, 28, '0'), :sessionId, :accountId, false, 'succeeded', 450, 'USDC',
           4500000, 6, 'eip155:84532', '0x' || lpad(n::text, 40, '0'), '0x209693', 'x402', '0x' || repeat('a', 64),
           now(), '0x036C', 'csv:' || n, '{}', '{}', now(), now()
         FROM generate_series(1, CAST(:count AS int)) n RETURNING id`,
        { sessionId, accountId: big.accountId, count: MANY },
      );
      ids = rows
        .map(({ id }: { id: string }) => id)
        .sort()
        .reverse();
    });

    it('are complete, without duplicates, and in order', async () => {
      const found = rowsOf(await ask('/v1/payments', big).expect(200)).map((row) => row.split(',', 1)[0]);
      assert.deepEqual(found, ids);
    });

    it('are read as fast as the client takes them, with one piece in memory', async () => {
      const principal = await findPrincipal(app.db, big.testKey);
      const input = { encoding: 'json', value: {} } as const;
      const { listPayments } = paymentOperations(app);
      let statements = 0;
      // A released part is read again by its ids.
      const count = ({ sql }: { sql: string }): void => {
        if (sql.includes('LIMIT')) statements += 1;
      };
      app.db.on('query', count);
      try {
        const call = {
          principal,
          input,
          id: '',
          idempotencyKey: undefined,
          path: '/v1/payments',
          wantsCsv: true,
          hasLargeBody: false,
        };
        const { text } = await listPayments(call);
        assert.ok(typeof text !== 'string');
        assert.equal(statements, 0);
        let lines = 0;
        let pieces = 0;
        for await (const piece of text) {
          assert.ok(piece.length <= ANSWER_PIECE_BYTES + 1000);
          assert.equal(
            statements,
            Math.max(1, Math.ceil((lines + 1) / TABLE_PART_ROWS)),
            `${lines} lines taken`,
          );
          lines += piece.split('\r\n').length - 1 - (pieces === 0 ? 1 : 0);
          pieces += 1;
        }
        assert.deepEqual([lines, statements], [MANY, MANY / TABLE_PART_ROWS]);
        assert.ok(pieces > 20);
      } finally {
        app.db.removeListener('query', count);
      }
    });
  });
});
