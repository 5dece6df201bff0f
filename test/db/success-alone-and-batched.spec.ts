import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { buildEndpoints, buildMerchant, buildUndecidedPayment } from '../../lab/world/shop/factories.js';
import type { Knex } from '../../shared/db/knex.js';
import { Payable } from '../../shared/payables/model.js';
import { Payment } from '../../shared/payments/model.js';
import { now } from '../../shared/process/clock.js';
import { fieldsBy, TEXT_FIELDS } from '../../shared/session-fields/fields.js';
import type { OutcomeDeps, WriteResult } from '../../shared/settlement/complete-payable.js';
import { succeedAlone, succeedInSteps, succeedPayment, successOf } from '../../shared/settlement/succeed.js';
import { beginSettlement } from '../../shared/settlement/take-work.js';
import { newId } from '../../shared/values/ids.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { stopClock } from '../support/stopped-clock.js';
import { moveToRefund, nameless, type Rows, rowsOf } from '../support/written-success.js';

type Proven = Parameters<typeof successOf>[1];
type Writer = (deps: OutcomeDeps, payment: Payment, proven: Proven) => Promise<WriteResult>;

const SAID = { source: 'facilitator', said: 'settled in 0xpaid' } as const;
const TRANSACTION = '0xpaid';
/** A network on which other payments have that transaction. */
const ELSEWHERE = 'eip155:8453';
const NOT_ARCHIVED = 'eip155:137';

const WRITERS: Record<'together' | 'alone' | 'inSteps', Writer> = {
  together: succeedPayment,
  alone: (deps, payment, proven) => succeedAlone(deps, successOf(payment, proven)),
  inSteps: (deps, payment, proven) => succeedInSteps(deps, successOf(payment, proven)),
};

interface Case {
  payment?: Partial<Payment>;
  session?: Partial<Payable>;
  /** The payment gives money back. */
  isRefund?: true;
  /** The facilitator's name of the payer. */
  payer?: string;
  proofIndex?: number;
  /** Other work between the call and its outcome. */
  meanwhile?(twin: Twin): Promise<unknown>;
  result?: WriteResult;
}

interface Twin {
  db: Knex;
  accountId: string;
  /** The session, or the refund. */
  session: Payable;
  payment: Payment;
}

const EARLIER = { at: '2026-11-01T00:00:00.000Z' };

const sets =
  (table: string, changes: object) =>
  ({ db, session, payment }: Twin): Promise<unknown> =>
    db(table)
      .where('id', table === 'payments' ? payment.id : session.id)
      .update(changes);

/** Builds another payment of the session, as it stands. */
async function another({ db, accountId, session }: Twin, overrides: Partial<Payment>): Promise<Payment> {
  const { payment } = await buildUndecidedPayment(db, accountId, overrides);
  await Payment.query(db).patch({ payableId: session.id }).where('id', payment.id);
  return payment;
}

const heldByAnother =
  (overrides: Partial<Payment>) =>
  async (twin: Twin): Promise<void> => {
    const { id } = await another(twin, overrides);
    await sets('payables', { payment_id: id })(twin);
  };

/** Every state in which a worker that was told "settled" can find the payment and its session. */
const CASES: Record<string, Case> = {
  'the usual one': {},
  'a payer that the facilitator names': { payer: '0xNamed' },
  'no payer known before': { payment: { payer: null }, payer: '0xNamed' },
  'no payer known at all': { payment: { payer: null } },
  'live money': { payment: { livemode: true }, session: { livemode: true } },
  'a buyer who was told 202': { payment: { answeredProcessing: true } },
  'a history': { payment: { history: [{ ...EARLIER, source: 'chain', said: 'unused' }] } },
  'a history whose last entry says the same': { payment: { history: [{ ...EARLIER, ...SAID }] } },
  'calls that were unclear, and checks that saw much': {
    payment: {
      settleCalls: 3,
      settleUnclear: true,
      reportedTransaction: '0xreported',
      unusedSeenAt: new Date(EARLIER.at),
      unreadableSince: new Date(EARLIER.at),
      usedSeenAt: new Date(EARLIER.at),
      searchPlace: { at: 7 },
    },
  },
  'a session that shows everything': {
    session: {
      ...fieldsBy('property', TEXT_FIELDS, ({ name }) => `"${name}" \\\u2028`),
      metadata: { order: '7', 'ключ ✓': '"\\\u2028' },
      successUrl: 'https://shop.example/?s={CHECKOUT_SESSION_ID}',
      cancelUrl: 'https://shop.example/no',
      clientReferenceId: 'order-7',
      customerEmail: 'b@example.com',
      offeredFeePayers: ['feePayer'],
    },
  },
  'a session whose last payment had failed': {
    session: { failureCode: 'insufficient_funds', failureAt: new Date(EARLIER.at) },
  },
  'a session whose time is over': { session: { expiresAt: new Date(EARLIER.at) } },
  'late money that waits': {
    async meanwhile(twin) {
      const late = await another(twin, { status: 'succeeded', stage: null, dueAt: null });
      await sets('payables', { late_payment_id: late.id })(twin);
    },
  },
  'another worker that has it': { meanwhile: sets('payments', { attempt: 9 }), result: 'superseded' },
  'a payment that an operator failed': {
    meanwhile: sets('payments', { status: 'failed', stage: 'watch' }),
    result: 'superseded',
  },
  'a payment that has succeeded': {
    meanwhile: sets('payments', { status: 'succeeded', stage: null, due_at: null }),
    result: 'superseded',
  },
  'a session that is open': { meanwhile: sets('payables', { status: 'open', payment_id: null }) },
  'a session that has expired': {
    meanwhile: sets('payables', { status: 'expired', payment_id: null }),
  },
  'a session that another payment has paid': {
    async meanwhile(twin) {
      const { id } = await another(twin, { status: 'succeeded', stage: null, dueAt: null });
      await sets('payables', { status: 'complete', payment_id: id })(twin);
    },
  },
  'a session that is held by one that has asked for nothing': {
    meanwhile: heldByAnother({ stage: 'settle', settleCalls: 0, settleAskedAt: null }),
  },
  'a session that is held by one that has asked': { meanwhile: heldByAnother({ stage: 'confirm' }) },
  'a transfer that the chain has shown': { proofIndex: 7 },
  'a transfer that proves a payment in the archive': {
    proofIndex: 8,
    payment: { network: ELSEWHERE },
    async meanwhile({ db, payment: { network } }) {
      const mark = { network, transaction: TRANSACTION, proof_index: 8, payload_released: false };
      const ids = { payment_id: newId('pay_'), payable_id: newId('cs_test_') };
      await db('payment_marks')
        .insert({ ...mark, ...ids, payload_key: ids.payment_id })
        .onConflict()
        .ignore();
    },
    result: 'proof_taken',
  },
  'a transaction that was only named, and that another payment has': {
    payment: { network: NOT_ARCHIVED },
    async meanwhile(twin) {
      const paid = { status: 'succeeded', stage: null, dueAt: null, network: NOT_ARCHIVED } as const;
      const { accountId } = await buildMerchant(twin.db);
      const { payment } = await buildUndecidedPayment(twin.db, accountId, paid);
      await Payment.query(twin.db)
        .patch({ proofIndex: null, transaction: null })
        .where({ network: NOT_ARCHIVED, transaction: TRANSACTION });
      await Payment.query(twin.db).patch({ transaction: TRANSACTION, proofIndex: 3 }).where('id', payment.id);
    },
    result: 'proof_taken',
  },
  'a refund': { isRefund: true },
  'a refund of live money, which shows everything': {
    isRefund: true,
    payment: { livemode: true },
    session: { metadata: { 'ключ ✓': '"\\\u2028' }, failureCode: 'insufficient_funds' },
  },
  'a refund that was canceled': {
    isRefund: true,
    meanwhile: sets('payables', { status: 'expired', payment_id: null }),
  },
};

describe('success, written with others, alone and in steps', () => {
  const app = forAllTests(openTestApp);
  afterEach(() => mock.restoreAll());

  for (const [name, one] of Object.entries(CASES))
    it(`leaves the same behind of ${name}`, async () => {
      const together = await play(app.db, WRITERS.together, one);
      assert.equal(together.result, one.result ?? 'done');
      for (const writer of [WRITERS.alone, WRITERS.inSteps]) {
        const other = await play(app.db, writer, one);
        assert.deepEqual(together, other);
        // The members of an event also have the same order.
        assert.equal(JSON.stringify(together.rows.events), JSON.stringify(other.rows.events));
      }
    });

  it('leaves out a transfer that proves another payment', async () => {
    const { db } = app;
    const first = await buildTwin(db, { payment: { network: ELSEWHERE } });
    const { network } = first.payment;
    await first.payment.$query(db).patch({ transaction: TRANSACTION, proofIndex: 9 });
    for (const writer of [WRITERS.together, WRITERS.alone]) {
      const { result, rows } = await play(db, writer, { payment: { network }, proofIndex: 9 });
      assert.deepEqual([result, rows.payments?.[0]?.status], ['proof_taken', 'processing']);
      assert.deepEqual(rows.events, []);
    }
  });

  it('compares what was written', async () => {
    const { rows, rung } = await play(app.db, WRITERS.together, {});
    assert.equal(rows.payments?.[0]?.status, 'succeeded');
    assert.equal(rows.payables?.[0]?.status, 'complete');
    assert.deepEqual([rows.events?.length, rows.webhook_deliveries?.length, rung], [1, 3, 1]);
  });
});

interface Left {
  result: WriteResult;
  rows: Rows;
  logged: object[];
  rung: number;
}

/** Every row that a writer leaves behind, with names in place of values that differ from twin to twin. */
async function play(db: Knex, write: Writer, one: Case): Promise<Left> {
  const twin = await buildTwin(db, one);
  stopClock();
  const payment = await beginSettlement(db, { id: twin.payment.id, settleTimeoutMs: 30_000 });
  assert.ok(payment);
  await one.meanwhile?.(twin);
  const logged: object[] = [];
  let rung = 0;
  const log = (line: object): number => logged.push(line);
  const deps = {
    db,
    baseUrl: 'https://pay.example',
    logger: { info: log, warn: log, error: log },
    notifyDeliveries: ({ accountIds }: { accountIds: readonly string[] }) => {
      rung += accountIds.length;
    },
  } as unknown as OutcomeDeps;
  const proof = { transaction: TRANSACTION, payer: one.payer, proofIndex: one.proofIndex };
  const result = await write(deps, payment, { proof, said: SAID });
  const rows = await rowsOf(db, twin.accountId);
  // A transfer proves one payment only, and the next twin needs it.
  await Payment.query(db).patch({ proofIndex: null, transaction: null }).where('accountId', twin.accountId);
  mock.restoreAll();
  return { result, rung, ...nameless({ rows, logged }) };
}

async function buildTwin(db: Knex, { payment: its, session: changes, isRefund }: Case): Promise<Twin> {
  const { accountId } = await buildMerchant(db);
  const livemode = its?.livemode ?? false;
  await buildEndpoints(db, accountId, 2, { livemode });
  for (const type of ['checkout.session.completed', 'checkout.session.expired', 'refund.updated'] as const)
    await buildEndpoints(db, accountId, 1, { livemode, enabledEvents: [type] });
  for (const own of [
    { livemode, status: 'disabled' },
    { livemode, deletedAt: now() },
    { livemode: !livemode },
  ] as const)
    await buildEndpoints(db, accountId, 1, own);
  const due = { stage: 'settle', dueAt: new Date(0), settleCalls: 0, settleAskedAt: null, ...its } as const;
  const { session, payment } = await buildUndecidedPayment(db, accountId, due);
  const id = isRefund ? await moveToRefund(db, payment) : session.id;
  if (changes !== undefined) await Payable.query(db).patch(changes).where({ id });
  return { db, accountId, session: await Payable.query(db).findById(id).throwIfNotFound(), payment };
}
