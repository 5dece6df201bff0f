import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { buildEndpoints, buildMerchant, buildUndecidedPayment } from '../../lab/world/shop/factories.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import type { Knex } from '../../shared/db/knex.js';
import { Payment } from '../../shared/payments/model.js';
import { now } from '../../shared/process/clock.js';
import { fieldsBy, TEXT_FIELDS } from '../../shared/session-fields/fields.js';
import { succeedSettled } from '../../shared/settlement/succeed-batch.js';
import { beginSettlement } from '../../shared/settlement/take-work.js';
import {
  succeedPayment,
  type VerdictDeps,
  type VerdictResult,
} from '../../shared/settlement/write-verdict.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { stopClock } from '../support/stopped-clock.js';

type Writer = (deps: VerdictDeps, payment: Payment, payer?: string) => Promise<VerdictResult>;

const SAID = { source: 'facilitator', said: 'settled in 0xpaid' } as const;
const TRANSACTION = '0xpaid';

const WRITERS: Record<'together' | 'alone', Writer> = {
  together: (deps, payment, payer) =>
    succeedSettled(deps, { payment, transaction: TRANSACTION, payer, observation: SAID }),
  alone: (deps, payment, payer) =>
    succeedPayment(deps, payment, {
      proof: { transaction: TRANSACTION, payer, proofIndex: undefined },
      said: SAID,
    }),
};

interface Case {
  payment?: Partial<Payment>;
  session?: Partial<CheckoutSession>;
  /** What the facilitator calls the payer. */
  payer?: string;
  /** What happens between the call and its outcome. */
  meanwhile?(twin: Twin): Promise<unknown>;
  result?: VerdictResult;
}

interface Twin {
  db: Knex;
  accountId: string;
  session: CheckoutSession;
  payment: Payment;
}

const EARLIER = { at: '2026-11-01T00:00:00.000Z' };

const sets =
  (table: string, changes: object) =>
  ({ db, session, payment }: Twin): Promise<unknown> =>
    db(table)
      .where('id', table === 'payments' ? payment.id : session.id)
      .update(changes);

/** Another payment of the session, as it stands. */
async function another({ db, accountId, session }: Twin, overrides: Partial<Payment>): Promise<Payment> {
  const { payment } = await buildUndecidedPayment(db, accountId, overrides);
  await Payment.query(db).patch({ checkoutSessionId: session.id }).where('id', payment.id);
  return payment;
}

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
  'calls that were unclear, and looks that saw much': {
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
      await sets('checkout_sessions', { late_payment_id: late.id })(twin);
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
  'a session that is open': { meanwhile: sets('checkout_sessions', { status: 'open', payment_id: null }) },
  'a session that has expired': {
    meanwhile: sets('checkout_sessions', { status: 'expired', payment_id: null }),
  },
  'a session that another payment has paid': {
    async meanwhile(twin) {
      const { id } = await another(twin, { status: 'succeeded', stage: null, dueAt: null });
      await sets('checkout_sessions', { status: 'complete', payment_id: id })(twin);
    },
  },
  'a session that is held by one that has asked for nothing': {
    async meanwhile(twin) {
      const { id } = await another(twin, { stage: 'settle', settleCalls: 0, settleAskedAt: null });
      await sets('checkout_sessions', { payment_id: id })(twin);
    },
  },
  'a session that is held by one that has asked': {
    async meanwhile(twin) {
      const { id } = await another(twin, { stage: 'confirm' });
      await sets('checkout_sessions', { payment_id: id })(twin);
    },
  },
};

describe('success, written together with others and alone', () => {
  let app: TestApp;
  before(async () => {
    app = await openTestApp();
  });
  after(() => app.close());
  afterEach(() => mock.restoreAll());

  for (const [name, one] of Object.entries(CASES))
    it(`leaves the same behind of ${name}`, async () => {
      const together = await play(app.db, WRITERS.together, one);
      const alone = await play(app.db, WRITERS.alone, one);
      assert.deepEqual(together, alone);
      assert.equal(together.result, one.result ?? 'done');
    });

  it('compares what was written', async () => {
    const { rows, rung } = await play(app.db, WRITERS.together, {});
    assert.equal(rows.payments?.[0]?.status, 'succeeded');
    assert.equal(rows.checkout_sessions?.[0]?.status, 'complete');
    assert.deepEqual([rows.events?.length, rows.webhook_deliveries?.length, rung], [1, 3, 1]);
  });
});

interface Left {
  result: VerdictResult;
  rows: Record<string, Record<string, unknown>[]>;
  logged: object[];
  rung: number;
}

/** All that one writer leaves behind, with names in place of what differs from twin to twin. */
async function play(db: Knex, write: Writer, one: Case): Promise<Left> {
  const twin = await buildTwin(db, one);
  stopClock();
  const payment = await beginSettlement(db, twin.payment.id, 30_000);
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
  } as unknown as VerdictDeps;
  const result = await write(deps, payment, one.payer);
  const rows = await rowsOf(db, twin.accountId);
  mock.restoreAll();
  return { result, rung, ...nameless({ rows, logged }) };
}

async function buildTwin(db: Knex, { payment: its, session: changes }: Case): Promise<Twin> {
  const { accountId } = await buildMerchant(db);
  const livemode = its?.livemode ?? false;
  const endpoint = { livemode };
  await buildEndpoints(db, accountId, 2, endpoint);
  await buildEndpoints(db, accountId, 1, { ...endpoint, enabledEvents: ['checkout.session.completed'] });
  await buildEndpoints(db, accountId, 1, { ...endpoint, enabledEvents: ['checkout.session.expired'] });
  await buildEndpoints(db, accountId, 1, { ...endpoint, status: 'disabled' });
  await buildEndpoints(db, accountId, 1, { ...endpoint, deletedAt: now() });
  await buildEndpoints(db, accountId, 1, { livemode: !livemode });
  const due = { stage: 'settle', dueAt: new Date(0), settleCalls: 0, settleAskedAt: null, ...its } as const;
  const { session, payment } = await buildUndecidedPayment(db, accountId, due);
  if (changes !== undefined) await session.$query(db).patch(changes);
  return { db, accountId, session, payment };
}

async function rowsOf(db: Knex, accountId: string): Promise<Left['rows']> {
  const events = db('events').where('account_id', accountId);
  return {
    payments: await db('payments').where('account_id', accountId).orderBy('id'),
    checkout_sessions: await db('checkout_sessions').where('account_id', accountId).orderBy('id'),
    events: await events.clone().orderBy('id'),
    webhook_deliveries: await db('webhook_deliveries')
      .whereIn('event_id', events.clone().select('id'))
      .orderBy('endpoint_id'),
  };
}

/** Ids are named in the order in which they appear, and times by how they lie to the moment of the outcome. */
function nameless<T extends object>(left: T): T {
  const names = new Map<string, string>();
  const text = JSON.stringify(left)
    .replaceAll(/\b([a-z]{2,4}(?:_test|_live)?)_[0-9a-z]{20,}/gi, (id, prefix: string) => {
      const known = names.get(id) ?? `${prefix}-${names.size}`;
      names.set(id, known);
      return known;
    })
    .replaceAll(/"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/g, (quoted, at: string) => {
      if (at.startsWith('2026-11-01') || at.startsWith('1970')) return quoted;
      const seconds = Math.round((Date.parse(at) - now().getTime()) / 10_000);
      return `"now + ${seconds * 10} s"`;
    })
    .replaceAll(/"created":\d+|"expires_at":\d+|"settled_at":\d+/g, '"then":0');
  return JSON.parse(text);
}
