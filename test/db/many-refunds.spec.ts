import assert from 'node:assert/strict';
import { buildMerchant, buildPaidSession } from '../../lab/world/shop/factories.js';
import { refundsOf } from '../../shared/refunds/read.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { createMigratedDatabase } from '../support/suite.js';

/** A statement takes at most 65,535 parameters. */
const REFUNDS = 65_600;

describe('the refunds of a payment', () => {
  const app = forAllTests(async () =>
    openTestApp({ DATABASE_URL: await createMigratedDatabase('many_refunds') }),
  );

  it('are read with their payments, however many there are', async () => {
    const { accountId } = await buildMerchant(app.db);
    const { payment } = await buildPaidSession(app.db, accountId);
    const { payment: paying } = await buildPaidSession(app.db, accountId);
    await app.db.raw(
      `INSERT INTO payables (id, account_id, livemode, status, amount_total_cents, line_items, metadata, expires_at,
         refunded_payment_id, refund, payment_id)
       SELECT 're_' || lpad(n::text, 28, '0'), ?, false, 'complete', 1, '[]', '{}', now(), ?, '{}',
         CASE n WHEN 1 THEN ? ELSE 'pay_' || n END
       FROM generate_series(1, ${REFUNDS}) n`,
      [accountId, payment.id, paying.id],
    );
    const refunds = await refundsOf(app.db, payment.id);
    assert.equal(refunds.length, REFUNDS);
    assert.equal(refunds[0]?.payment?.id, paying.id);
    assert.equal(refunds[1]?.payment, null);
  });
});
