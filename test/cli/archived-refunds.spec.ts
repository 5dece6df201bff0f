import assert from 'node:assert/strict';
import { buildPaidSession, buildRefund } from '../../lab/world/shop/factories.js';
import { type Archived, archiveMonths } from '../../shared/archive/archive.js';
import { Payable } from '../../shared/payables/model.js';
import { Payment } from '../../shared/payments/model.js';
import { useArchiveShop } from '../support/archive-shop.js';
import { inMonth, type PaidAndDelivered } from '../support/months.js';
import { untilOneWaits } from '../support/until-one-waits.js';

describe('merchants archive keeps what refunds are summed by', () => {
  const shop = useArchiveShop('archived_refunds');

  const refundOf = (
    { payment }: PaidAndDelivered,
    month: string,
    status: Payable['status'],
  ): Promise<Payable> =>
    inMonth(month, () => buildRefund(shop.app.db, shop.accountId, { refundedPaymentId: payment.id, status }));
  /** A failed payment of the refund whose money may have moved. */
  const watchedPaymentOf = async ({ id: payableId }: Payable): Promise<Payment> => {
    const watched = { status: 'failed', stage: 'watch', dueAt: new Date() } as const;
    const { payment } = await inMonth('2024-06', () =>
      buildPaidSession(shop.app.db, shop.accountId, {
        payableId,
        transaction: null,
        settledAt: null,
        ...watched,
      }),
    );
    return payment;
  };
  const archive = (before: string, onWritten = async (): Promise<void> => {}): Promise<Archived> =>
    archiveMonths(shop.app.db, { before, folder: shop.folder, onWritten });
  const holds = ({ kept }: Archived): string[] =>
    kept.flatMap(({ month, holds: all }) => all.map(({ kind, example }) => `${month} ${kind} ${example}`));

  it('while the money of a canceled refund may come late', async () => {
    const paid = await shop.buildPaid('2024-03');
    const canceled = await refundOf(paid, '2024-06', 'expired');
    const watched = await watchedPaymentOf(canceled);
    assert.deepEqual(holds(await archive('2024-04')), [
      `2024-03 canceled refunds of its payments whose money may come late ${canceled.id}`,
    ]);
    await watched.$query(shop.app.db).patch({ stage: null, dueAt: null });
    assert.deepEqual((await archive('2024-04')).archived[0]?.left, 0);
  });

  it('when a refund was made and canceled after its payment was written', async () => {
    const paid = await shop.buildPaid('2024-03');
    const { archived } = await archive('2024-04', async () => {
      await watchedPaymentOf(await refundOf(paid, '2024-06', 'expired'));
    });
    // The session refers to its payment.
    assert.deepEqual([archived[0]?.removed, archived[0]?.left], [2, 2]);
    assert.ok(await Payment.query(shop.app.db).findById(paid.payment.id));
    await Payment.query(shop.app.db).patch({ stage: null, dueAt: null }).where({ stage: 'watch' });
    await archive('2024-04');
  });

  it('when a refund is being made while its payment is removed', async () => {
    const paid = await shop.buildPaid('2024-03');
    const { db } = shop.app;
    const making = await db.transaction();
    const archiving = archive('2024-04', async () => {
      await Payment.query(making).findById(paid.payment.id).forNoKeyUpdate();
      await buildRefund(making, shop.accountId, { refundedPaymentId: paid.payment.id });
    });
    await untilOneWaits(db);
    await making.commit();
    await archiving;
    assert.ok(await Payment.query(db).findById(paid.payment.id));
    await Payable.query(db).patch({ status: 'expired' }).where({ refundedPaymentId: paid.payment.id });
    await archive('2024-04');
  });

  it('while the payment of a refund is kept', async () => {
    const paid = await shop.buildPaid('2024-03');
    await shop.app.db('webhookDeliveries').where({ id: paid.deliveryId }).update({ status: 'pending' });
    const refund = await refundOf(paid, '2024-04', 'complete');
    assert.deepEqual(holds(await archive('2024-05')), [
      `2024-03 deliveries that are not over ${paid.deliveryId}`,
      `2024-04 refunds of payments that were kept ${refund.id}`,
    ]);
    await shop.app.db('webhookDeliveries').where({ id: paid.deliveryId }).update({ status: 'succeeded' });
    assert.deepEqual(holds(await archive('2024-05')), []);
    assert.equal(await Payable.query(shop.app.db).findById(refund.id), undefined);
  });
});
