import assert from 'node:assert/strict';
import {
  buildEndpoints,
  buildMerchant,
  buildRefund,
  buildUndecidedPayment,
} from '../../lab/world/shop/factories.js';
import type { Knex } from '../../shared/db/knex.js';
import { Payable } from '../../shared/payables/model.js';
import { Payment } from '../../shared/payments/model.js';
import type { OutcomeDeps } from '../../shared/settlement/complete-payable.js';
import { succeedPayment } from '../../shared/settlement/succeed.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { allStatements, captureStatements } from '../support/query-plans.js';
import { untilOneWaits } from '../support/until-one-waits.js';

const SAID = {
  facilitator: { source: 'facilitator', said: 'settled' },
  chain: { source: 'chain', said: 'paid' },
} as const;

describe('the statement that writes success', () => {
  const app = forAllTests(openTestApp);
  let accountId: string;
  let deps: OutcomeDeps;
  before(async () => {
    ({ accountId } = await buildMerchant(app.db));
    await buildEndpoints(app.db, accountId, 1);
    deps = { db: app.db, baseUrl: 'https://pay.example', logger: app.logger, notifyDeliveries: () => {} };
  });

  async function build(): Promise<Payment> {
    return (await buildUndecidedPayment(app.db, accountId)).payment;
  }

  let transfers = 0;
  async function succeed(payment: Payment, source: keyof typeof SAID): Promise<string> {
    transfers += 1;
    const proofIndex = source === 'chain' ? transfers : undefined;
    const proof = { transaction: `0x${transfers}`, payer: undefined, proofIndex };
    return await succeedPayment(deps, payment, { proof, said: SAID[source] });
  }

  const statusOf = async (payment: Payment): Promise<string> =>
    (await Payable.query(app.db).findById(payment.payableId).throwIfNotFound()).status;

  /** Locks the session's row while `act` runs, and changes the row before the commit. */
  async function whileLocked(
    { payableId: id }: Payment,
    changes: Partial<Payable>,
    act: (trx: Knex.Transaction) => Promise<void>,
  ): Promise<void> {
    await app.db.transaction(async (trx) => {
      await Payable.query(trx).findById(id).forUpdate();
      await act(trx);
      if (Object.keys(changes).length > 0) await Payable.query(trx).patch(changes).where({ id });
    });
  }

  it('is the only one for a payment that the chain has shown, and for a refund', async () => {
    const payment = await build();
    const ofRefund = await build();
    const held = { status: 'processing', paymentId: ofRefund.id } as const;
    const refund = await buildRefund(app.db, accountId, held);
    await ofRefund.$query(app.db).patch({ payableId: refund.id });
    for (const one of [payment, ofRefund]) {
      const sent = await captureStatements(app.db, async () => {
        assert.equal(await succeed(one, 'chain'), 'done');
      });
      assert.equal(sent.length, 1);
      assert.equal(await statusOf(one), 'complete');
    }
  });

  it('is one for all that facilitators say in the same moment', async () => {
    const payments = await Promise.all(Array.from({ length: 5 }, build));
    const sent = await allStatements(app.db, () =>
      Promise.all(payments.map((payment) => succeed(payment, 'facilitator'))),
    );
    assert.equal(sent.length, 1);
    for (const payment of payments) assert.equal(await statusOf(payment), 'complete');
  });

  it('waits for a session that another transaction has locked, and holds up no other payment', async () => {
    const [locked, free] = [await build(), await build()];
    let waiting: Promise<string> | undefined;
    await whileLocked(locked, {}, async () => {
      waiting = succeed(locked, 'facilitator');
      assert.equal(await succeed(free, 'facilitator'), 'done');
      await untilOneWaits(app.db);
      assert.equal((await Payment.query(app.db).findById(locked.id))?.status, 'processing');
    });
    assert.equal(await waiting, 'done');
    assert.deepEqual([await statusOf(locked), await statusOf(free)], ['complete', 'complete']);
  });

  for (const source of ['facilitator', 'chain'] as const)
    it(`finds late money that came while it waited, on the word of a ${source}`, async () => {
      const payment = await build();
      const late = await build();
      await late.$query(app.db).patch({ status: 'succeeded', stage: null, dueAt: null });
      let waiting: Promise<string> | undefined;
      await whileLocked(payment, { latePaymentId: late.id }, async () => {
        waiting = succeed(payment, source);
        await untilOneWaits(app.db);
      });
      assert.equal(await waiting, 'done');
      assert.equal(await statusOf(payment), 'complete');
      const marked = await Payment.query(app.db).findByIds([payment.id, late.id]).orderBy('id');
      const surplus = marked.map(({ surplus }) => surplus);
      assert.deepEqual(surplus, [false, true]);
    });

  it('writes nothing for a payment that another worker took while it waited', async () => {
    const payment = await build();
    let waiting: Promise<string> | undefined;
    await whileLocked(payment, {}, async (trx) => {
      waiting = succeed(payment, 'chain');
      await untilOneWaits(app.db);
      await Payment.query(trx)
        .patch({ attempt: payment.attempt + 1 })
        .where('id', payment.id);
    });
    assert.equal(await waiting, 'superseded');
    assert.equal(await statusOf(payment), 'processing');
  });
});
