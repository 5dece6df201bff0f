import assert from 'node:assert/strict';
import type { Test } from 'supertest';
import { buildPaidSession, buildRefund } from '../../lab/world/shop/factories.js';
import type { Payable } from '../../shared/payables/model.js';
import { createdAt } from '../../shared/values/ids.js';
import { askCsv, assertInvalid } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { buildShop } from '../support/shop.js';

const HEAD =
  'id,created,settled_at,status,reason,amount,currency,token,token_amount,network,network_name,pay_to,transaction,transaction_url,payment,checkout_session,expires_at,failure_code,livemode';

describe('the refunds as CSV', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildShop(app));
  let open: Payable;
  let done: Payable;
  let transaction: string | null;
  before(async () => {
    open = await buildRefund(app.db, shop.accountId, { amountTotalCents: 120, failureCode: '=1+1' });
    const unpaid = await buildRefund(app.db, shop.accountId);
    const { payment } = await buildPaidSession(app.db, shop.accountId, {
      settledAt: new Date('2026-03-01T10:20:30.456Z'),
      payableId: unpaid.id,
    });
    transaction = payment.transaction;
    done = await unpaid.$query(app.db).patchAndFetch({ status: 'complete', paymentId: payment.id });
    await buildRefund(app.db, (await buildShop(app)).accountId);
  });

  const ask = (path: string): Test => askCsv(app, shop.testKey, path);
  const time = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`;
  const line = (
    refund: Payable,
    parts: Record<'settled' | 'status' | 'money' | 'sent' | 'failure', string>,
  ) => {
    const { payTo, checkoutSession } = refund.refund ?? {};
    return `${refund.id},${time(createdAt(refund.id))},${parts.settled},${parts.status},,${parts.money},eip155:84532,Base Sepolia,${payTo},${parts.sent},${refund.refundedPaymentId},${checkoutSession},${time(refund.expiresAt)},${parts.failure},false`;
  };

  it('have one line each below a header line, newest first', async () => {
    const res = await ask('/v1/refunds').expect(200);
    assert.equal(res.get('Content-Type'), 'text/csv; charset=utf-8');
    assert.deepEqual(res.text.split('\r\n'), [
      HEAD,
      line(done, {
        settled: '2026-03-01T10:20:30Z',
        status: 'succeeded',
        money: '4.50,usd,USDC,4.500000',
        sent: `${transaction},https://sepolia.basescan.org/tx/${transaction}`,
        failure: '',
      }),
      line(open, {
        settled: '',
        status: 'requires_action',
        money: '1.20,usd,USDC,1.200000',
        sent: ',',
        failure: "'=1+1",
      }),
      '',
    ]);
  });

  it('contain all matches of the filters', async () => {
    const idsOf = async (query: string): Promise<string[]> => {
      const { text } = await ask(`/v1/refunds?${query}`).expect(200);
      const rows = text.split('\r\n').slice(1, -1);
      return rows.map((row) => row.split(',')[0] ?? '');
    };
    assert.deepEqual(await idsOf('status=succeeded'), [done.id]);
    assert.deepEqual(await idsOf(`payment_intent=${open.refundedPaymentId}`), [open.id]);
    assert.deepEqual(await idsOf('created[lt]=1000'), []);
    for (const param of ['limit', 'starting_after', 'ending_before']) {
      assertInvalid(await ask(`/v1/refunds?${param}=1`), 'parameter_unknown', param);
    }
  });
});
