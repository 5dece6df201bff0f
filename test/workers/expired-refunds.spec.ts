import assert from 'node:assert/strict';
import { buildEndpoints, buildRefund, buildSession } from '../../lab/world/shop/factories.js';
import { presentCheckoutSession } from '../../shared/checkout-sessions/present.js';
import { Payable } from '../../shared/payables/model.js';
import { presentRefund } from '../../shared/refunds/present.js';
import { expireOverdueSessions, findOverdueSessions } from '../../shared/settlement/expire-overdue.js';
import { openExpiring, overdueBy } from '../support/expiring.js';
import { forAllTests } from '../support/hooks.js';
import { EVENT_DEPS } from '../support/money-flow.js';

const METADATA = { 'ключ "1"': 'a\\b\n\u2028 \u{1f4b8}', plain: '' };

describe('overdue refunds', () => {
  const expiring = forAllTests(() => openExpiring('expired_refunds'));

  it('are canceled together with overdue sessions, each with an event of its own kind, for any characters', async () => {
    const {
      db,
      shop: { accountId },
    } = expiring;
    const [endpoint] = await buildEndpoints(db, accountId, 1, { enabledEvents: ['refund.updated'] });
    const overdue = { ...overdueBy(60_000), metadata: METADATA };
    const plain = await buildRefund(db, accountId, overdue);
    assert.ok(plain.refund);
    const refund = {
      ...plain.refund,
      reason: 'duplicate' as const,
      reference: 'order "7"',
      networkName: 'Näme "x"',
    };
    await buildRefund(db, accountId, { ...overdue, refund, failureCode: 'insufficient_funds' });
    await buildSession(db, accountId, overdue);
    const later = await buildRefund(db, accountId);
    assert.equal(await findOverdueSessions(db), 'late');
    assert.equal(await expireOverdueSessions(db, 10, EVENT_DEPS), 3);
    assert.equal(await findOverdueSessions(db), 'none');

    const ended = await Payable.query(db).where({ status: 'expired' }).orderBy('id');
    const { rows } = await db.raw('SELECT type, object::text AS text FROM events ORDER BY payable_id');
    const { baseUrl } = EVENT_DEPS;
    const expected = ended.map((one) =>
      one.refund === null
        ? ['checkout.session.expired', presentCheckoutSession(one, { baseUrl, expand: [] })]
        : ['refund.updated', presentRefund(one, baseUrl)],
    );
    assert.equal(expected.length, 3);
    assert.deepEqual(
      rows.map(({ type, text }: { type: string; text: string }) => [type, text]),
      expected.map(([type, object]) => [type, JSON.stringify(object)]),
    );
    const deliveries = await db('webhookDeliveries').where({ endpointId: endpoint });
    assert.equal(deliveries.length, 2);
    assert.equal((await Payable.query(db).findById(later.id))?.status, 'open');
  });
});
