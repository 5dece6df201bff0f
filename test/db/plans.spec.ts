import assert from 'node:assert/strict';
import request from 'supertest';
import { BIG_ACCOUNT, seedDatabase } from '../../lab/bench/growth/seed.js';
import { type FakeFacilitator, startFacilitator } from '../../lab/world/facilitator/facilitator.js';
import { buildUndecidedPayment } from '../../lab/world/shop/factories.js';
import { createApiKey } from '../../shared/accounts/api-keys.js';
import { eraseOldSessions } from '../../shared/checkout-sessions/erase.js';
import { isPayloadUsed, listDecided, listUndecidedPayments } from '../../shared/payments/find.js';
import { Payment } from '../../shared/payments/model.js';
import { nowMs } from '../../shared/process/clock.js';
import { claimPayable } from '../../shared/settlement/claim.js';
import { expireOverdueSessions, findOverdueSessions } from '../../shared/settlement/expire-overdue.js';
import { failPayment } from '../../shared/settlement/fail.js';
import { markAnsweredProcessing } from '../../shared/settlement/record-answers.js';
import { succeedPayment } from '../../shared/settlement/succeed.js';
import { beginCheck, beginSettlement, listDuePayments } from '../../shared/settlement/take-work.js';
import { readBacklog } from '../../shared/upkeep/backlog.js';
import { removeDeliveryAnswers, removeExpiredIdempotencyRecords } from '../../shared/upkeep/retention.js';
import { newId } from '../../shared/values/ids.js';
import { findDueAccounts, listQuarantinedDeliveries } from '../../shared/webhooks/find-due.js';
import { WebhookDelivery } from '../../shared/webhooks/model.js';
import { recordSuccess } from '../../shared/webhooks/record-success.js';
import { resendEvent } from '../../shared/webhooks/resend.js';
import { removePreviousSecrets } from '../../shared/webhooks/secrets.js';
import { DELIVERY_STATUSES } from '../../shared/webhooks/states.js';
import { takeDueDeliveries } from '../../shared/webhooks/take-due.js';
import { buildSigner, type Client, client, signToken } from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { newPayment } from '../support/new-payment.js';
import { ENDPOINTS, minimal, REFUNDS, SESSIONS } from '../support/orders.js';
import { tableReads } from '../support/query-plans.js';
import { createMigratedDatabase } from '../support/suite.js';
import { ALLOWANCE } from '../support/webhook-flow.js';

const COUNTS = {
  accounts: 5000,
  sessions: 50_000,
  payments: 10_000,
  deliveries: 20_000,
  idempotencyRecords: 20_000,
};
/** A page has 101 rows, a batch of the sweep 500. */
const MOST_ROWS = 1200;
const TERMS = {
  checkoutSession: 'cs_test_1',
  reference: null,
  reason: null,
  token: 'USDC',
  tokenAmount: '10000',
  tokenDecimals: 6,
  network: 'eip155:84532',
  networkName: 'Base Sepolia',
  payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
};
/** More refunds of one payment than a page holds: a list of sessions must not read past them. */
const MANY_REFUNDS = `
  INSERT INTO payables (id, account_id, livemode, status, amount_total_cents, line_items, metadata, expires_at,
    refunded_payment_id, refund)
  SELECT 're_' || lpad(n::text, 28, '0'), ?, false, 'expired', 1, '[]', '{}', now(), ?, '${JSON.stringify(TERMS)}'
  FROM generate_series(1, 3000) n`;
const FILTERED = [
  `${SESSIONS}?client_reference_id=order-5000`,
  `${SESSIONS}?customer_email=buyer5000@mail.example&created[gte]=1`,
  `/v1/payments?transaction=0x${'ab'.repeat(32)}`,
  '/v1/payments?payer=0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '/v1/payments?token=USDG&created[gte]=1',
  '/v1/payments?network=eip155:8453',
  '/v1/payments?checkout_session=cs_test_1',
  '/v1/payments?status=processing&created[lt]=4000000000',
  '/v1/payments?status=failed&token=USDG',
  '/v1/payments?status=failed&payer=0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
];

/**
 * The database holds a year of a small business, with the planner's default settings. Statements are captured from the
 * service; reads are repeated, and the rows that they scan in each table are counted.
 */
describe('query plans of a large database', () => {
  let app: TestApp;
  let facilitator: FakeFacilitator;
  let api: Client;
  let known: Record<'open' | 'paid' | 'payment' | 'newest' | 'event' | 'endpoint' | 'secret', string>;

  before(async () => {
    const url = await createMigratedDatabase('plans');
    facilitator = await startFacilitator();
    app = await openTestApp({ DATABASE_URL: url, FACILITATOR_URL: facilitator.url });
    await seedDatabase(app.db, COUNTS);
    const key = await createApiKey(app.db, { accountId: BIG_ACCOUNT, livemode: false, name: 'Test' });
    api = client(app, key.secret);
    const first = async (table: string, where: object): Promise<string> =>
      (
        await app
          .db(table)
          .where({ accountId: BIG_ACCOUNT, ...where })
          .first('id')
      ).id;
    known = {
      open: await first('checkoutSessions', { status: 'open' }),
      paid: await first('checkoutSessions', { status: 'complete' }),
      payment: await first('payments', {}),
      newest: (await app.db('payments').where({ accountId: BIG_ACCOUNT }).max('id as id'))[0]?.id,
      event: await first('events', {}),
      endpoint: await first('webhookEndpoints', {}),
      secret: key.secret,
    };
    await app.db.raw(MANY_REFUNDS, [BIG_ACCOUNT, known.newest]);
    await app.db.raw('ANALYZE payables');
  });
  after(async () => {
    await app.close();
    await facilitator.close();
  });

  async function assertIndexed(act: () => Promise<unknown>, mostRows = MOST_ROWS): Promise<void> {
    for (const { index, rows, scan } of await tableReads(app.db, act)) {
      assert.ok(rows <= mostRows, scan);
      // Postgres reads a table of a few rows as a whole.
      if (rows > 20) assert.notEqual(index, undefined, scan);
    }
  }

  const get = (path: () => string) => () => api.get(path()).expect(200);

  /** The seeded events' objects are placeholders, which no query reads. */
  const bare = (method: 'get' | 'post', path: string) =>
    request(app.server)[method](path).set('Authorization', `Bearer ${known.secret}`);
  const aDay = (): string => {
    const day = Math.floor(nowMs() / 1000) - 100 * 86_400;
    return `created[gte]=${day}&created[lt]=${day + 86_400}`;
  };

  const requests: Record<string, () => Promise<unknown>> = {
    'the newest refunds': get(() => `${REFUNDS}?limit=100`),
    'refunds of one payment': get(() => `${REFUNDS}?payment=${known.payment}`),
    'refunds that require action': get(() => `${REFUNDS}?limit=100&status=requires_action`),
    'a new refund': () => api.post(REFUNDS, { payment: known.newest, amount: 1 }).expect(200),
    'the newest sessions': get(() => `${SESSIONS}?limit=100`),
    'sessions with their line items': get(() => `${SESSIONS}?limit=100&expand[]=data.line_items`),
    'sessions after an old one': get(() => `${SESSIONS}?limit=100&starting_after=${known.paid}`),
    'sessions before an old one': get(() => `${SESSIONS}?limit=100&ending_before=${known.paid}`),
    'open sessions': get(() => `${SESSIONS}?limit=100&status=open`),
    'complete sessions before one': get(() => `${SESSIONS}?status=complete&ending_before=${known.paid}`),
    'expired sessions': get(() => `${SESSIONS}?limit=100&status=expired`),
    'sessions of a day': get(() => `${SESSIONS}?limit=100&${aDay()}`),
    'a session': get(() => `${SESSIONS}/${known.paid}`),
    'a missing session': () => api.get(`${SESSIONS}/${newId('cs_test_')}`).expect(404),
    'a missing cursor': () => api.get(`${SESSIONS}?starting_after=${newId('cs_test_')}`).expect(404),
    'line items': get(() => `${SESSIONS}/${known.paid}/line_items`),
    'the newest payments': get(() => '/v1/payments?limit=100'),
    'payments after one': get(() => `/v1/payments?limit=100&starting_after=${known.payment}`),
    'payments before one': get(() => `/v1/payments?limit=100&ending_before=${known.payment}`),
    'payments of a day': get(() => `/v1/payments?limit=100&${aDay()}`),
    ...Object.fromEntries(FILTERED.map((path) => [path, get(() => `${path}&limit=100`)])),
    'a payment': get(() => `/v1/payments/${known.payment}`),
    'a missing payment': () => api.get(`/v1/payments/${newId('pay_')}`).expect(404),
    'the newest events': () => bare('get', '/v1/events?limit=100').expect(200),
    'events after one, of a day': () =>
      bare('get', `/v1/events?limit=100&starting_after=${known.event}&${aDay()}`).expect(200),
    'events of a type': () => bare('get', '/v1/events?limit=100&type=checkout.session.completed').expect(200),
    'events of a type without events': () =>
      bare('get', '/v1/events?type=checkout.session.expired').expect(200),
    'events of a session': () =>
      bare('get', `/v1/events?limit=100&checkout_session=${known.paid}`).expect(200),
    'an event': () => bare('get', `/v1/events/${known.event}`).expect(200),
    'sending an event again': () => bare('post', `/v1/events/${known.event}/resend`).expect(200),
    'the newest deliveries to an endpoint': get(() => `${ENDPOINTS}/${known.endpoint}/deliveries?limit=100`),
    ...Object.fromEntries(
      DELIVERY_STATUSES.map((status) => [
        `deliveries that are ${status}`,
        get(() => `${ENDPOINTS}/${known.endpoint}/deliveries?limit=100&status=${status}`),
      ]),
    ),
    'rolling a secret': () => api.post(`${ENDPOINTS}/${known.endpoint}/roll_secret`).expect(200),
    keys: get(() => '/v1/keys?limit=100'),
    'deleting a key': async () => {
      const { key } = await createApiKey(app.db, { accountId: BIG_ACCOUNT, livemode: false, name: 'Old' });
      await api.delete(`/v1/keys/${key.id}`).expect(200);
    },
    'webhook endpoints': get(() => ENDPOINTS),
    'a webhook endpoint': get(() => `${ENDPOINTS}/${known.endpoint}`),
    'creating a session': () => api.post(SESSIONS, minimal).expect(200),
    'creating a session with a key': () =>
      api.post(SESSIONS, minimal).set('Idempotency-Key', 'one').expect(200),
    'replaying it': () => api.post(SESSIONS, minimal).set('Idempotency-Key', 'one').expect(200),
    'expiring a session': async () => {
      const { body } = await api.post(SESSIONS, minimal).expect(200);
      await api.post(`${SESSIONS}/${body.id}/expire`).expect(200);
    },
    'creating, changing and deleting an endpoint': async () => {
      const { body } = await api.post(ENDPOINTS, { url: 'https://1.1.1.1/' }).expect(200);
      await api.post(`${ENDPOINTS}/${body.id}`, { disabled: true }).expect(200);
      await api.post(`${ENDPOINTS}/${body.id}`, { disabled: false }).expect(200);
      await api.delete(`${ENDPOINTS}/${body.id}`).expect(200);
    },
    'agent sign-up': async () => {
      const token = signToken(await buildSigner(app.db, BIG_ACCOUNT));
      await client(app, token).post('/v1/keys', { livemode: false }).expect(200);
    },
    'a link': () => client(app).get(`/c/${known.open}`).expect(402),
    'a paid link': () => client(app).get(`/c/${known.paid}`).expect(200),
    'a link of no session': () =>
      client(app)
        .get(`/c/${newId('cs_test_')}`)
        .expect(404),
  };
  for (const [what, act] of Object.entries(requests)) it(what, () => assertIndexed(act));

  it('payments as CSV, part by part', () =>
    // This account has a fifth of all payments, so the index range also contains other accounts' rows.
    assertIndexed(() => bare('get', '/v1/payments').accept('text/csv').expect(200), 5 * MOST_ROWS));

  const notifications = { baseUrl: 'https://pay.example', notifyDeliveries: () => {} };
  const sweeps: Record<string, () => Promise<unknown>> = {
    'listing due payments': () => listDuePayments(app.db, ['settle', 'confirm', 'watch'], 500),
    'finding overdue sessions': () => findOverdueSessions(app.db),
    'expiring overdue sessions': () => expireOverdueSessions(app.db, 500, notifications),
    'listing quarantined deliveries': () => listQuarantinedDeliveries(app.db, 20),
    'removing previous secrets': () => removePreviousSecrets(app.db, 1000),
    'finding due deliveries': () => findDueAccounts(app.db, '', 1000),
    'reading the backlog for the metrics': () => readBacklog(app.db),
    'undecided payments': () => listUndecidedPayments(app.db),
    'removing idempotency records': () => removeExpiredIdempotencyRecords(app.db, 1000),
    'removing the answers of deliveries': () => removeDeliveryAnswers(app.db, 1000),
    'erasing personal data': () => eraseOldSessions(app.db, 30, 50),
    'waiting for payments': () => listDecided(app.db, [known.payment, newId('pay_')]),
  };
  for (const [what, act] of Object.entries(sweeps)) it(what, () => assertIndexed(act));

  it('a delivery: taking, recording, sending again', async () => {
    const endpoint = `${known.endpoint}`;
    await app.db('webhookEndpoints').where('id', endpoint).update({ status: 'enabled' });
    const due = await WebhookDelivery.query(app.db)
      .where({ endpointId: endpoint, status: 'pending' })
      .whereNotNull('dueAt')
      .first()
      .throwIfNotFound();
    await due.$query(app.db).patch({ dueAt: new Date(nowMs() - 1000) });
    await assertIndexed(async () => {
      const batch = await takeDueDeliveries(app.db, BIG_ACCOUNT, ALLOWANCE);
      const delivery = batch.deliveries.find(({ id }) => id === due.id);
      assert.ok(delivery);
      const entry = {
        at: new Date(nowMs()).toISOString(),
        durationMs: 5,
        status: 200,
        answer: null,
        error: null,
      };
      await recordSuccess(app.db, { delivery, entry, bytesToPassOn: 10_000 });
      await resendEvent(app.db, known.event, endpoint);
    });
  });

  it('a payment: claimed, taken, checked, and decided either way', async () => {
    const deps = { db: app.db, logger: app.logger, ...notifications };
    const said = { source: 'service' as const, said: 'tried' };
    const { payment: other } = await buildUndecidedPayment(app.db, BIG_ACCOUNT);
    const { payment: watched } = await buildUndecidedPayment(app.db, BIG_ACCOUNT, {
      dueAt: new Date(nowMs() - 1000),
    });
    await assertIndexed(async () => {
      assert.equal(await isPayloadUsed(app.db, 'eip155:84532:growth:100', known.open), true);
      const claim = await claimPayable(app.db, newPayment(known.open), notifications);
      assert.ok(claim.kind === 'claimed');
      await markAnsweredProcessing(app.db, claim.paymentId);
      const begun = await beginSettlement(app.db, { id: claim.paymentId, settleTimeoutMs: 30_000 });
      assert.ok(begun);
      const proof = { transaction: '0xabc', payer: undefined, proofIndex: 0 };
      assert.equal(await succeedPayment(deps, begun, { proof, said }), 'done');
      await beginCheck(app.db, { id: watched.id, settleTimeoutMs: 30_000 });
      const failure = { code: 'payment_failed', released: false, watchAt: undefined };
      assert.equal(await failPayment(deps, other, { ...failure, said }), 'done');
      other.status = 'failed';
      const late = { ...proof, proofIndex: 1 };
      assert.equal(await succeedPayment(deps, other, { proof: late, said }), 'done');
    });
    await Payment.query(app.db).patch({ stage: null, dueAt: null }).where({ accountId: BIG_ACCOUNT });
  });

  it('detects a sequential scan', async () => {
    await assert.rejects(
      assertIndexed(() => app.db('checkoutSessions').where('cancelUrl', 'https://shop.example/')),
      /payables by undefined, 53\d{3} rows/,
    );
  });
});
