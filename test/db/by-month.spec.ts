import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import {
  buildEndpoints,
  buildMerchant,
  buildSession,
  buildSessions,
  type Merchant,
} from '../../lab/world/shop/factories.js';
import { createIndexConcurrently, dropIndexConcurrently } from '../../migrations/concurrent-index.js';
import { archiveMonths } from '../../shared/archive/archive.js';
import { type Config, loadConfig } from '../../shared/config/config.js';
import { migrate } from '../../shared/migrate.js';
import { Payment } from '../../shared/payments/model.js';
import { returnToPresent } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';
import { areByMonth, makeMonthsAhead } from '../../shared/schema/by-month.js';
import { migrationConfig } from '../../shared/schema/migration-files.js';
import { claimSession } from '../../shared/settlement/claim.js';
import { findLinkedSession, isPayloadUsed, listDecided } from '../../shared/settlement/read-link.js';
import { succeedSettled } from '../../shared/settlement/succeed-together.js';
import { beginSettlement, listDuePayments } from '../../shared/settlement/take-work.js';
import { failPayment, succeedPayment } from '../../shared/settlement/write-verdict.js';
import { newId } from '../../shared/values/ids.js';
import { monthAt, monthsAfter, slicesOf } from '../../shared/values/months.js';
import { Event } from '../../shared/webhooks/model.js';
import { takeDueDeliveries } from '../../shared/webhooks/take-due.js';
import { cleanUp } from '../../workers/process/clean-up.js';
import { type Client, client } from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { buildTold, inMonth, type Told } from '../support/months.js';
import { newPayment } from '../support/new-payment.js';
import { partitionsRead } from '../support/partitions.js';
import { createDatabase, createMigratedDatabase } from '../support/suite.js';
import { ROOM } from '../support/webhook-flow.js';

const ARCHIVE = '20261127000900-archive';
const MONTHS = 24;
const BELL = { baseUrl: 'https://pay.example', ringDeliveries: () => {} };
const SAID = { source: 'facilitator' as const, said: 'settled' };

describe('tables that are kept by month', () => {
  const logger = createLogger('silent', 'test');
  const newest = monthAt(Date.now());
  const oldest = monthsAfter(newest, -MONTHS);
  let config: Config;
  let app: TestApp;
  let shop: Merchant;
  let api: Client;
  let endpointId: string;
  /** One of each month, the oldest first. */
  const told: Told[] = [];

  before(async function () {
    this.timeout(60_000);
    const url = await createDatabase('by_month');
    config = loadConfig({ DATABASE_URL: url }, 'migrate');
    await migrate(config, logger, { byMonth: true });
    app = await openTestApp({ DATABASE_URL: url });
    await makeMonthsAhead(app.db, { from: oldest, ahead: MONTHS });
    shop = await buildMerchant(app.db);
    api = client(app, shop.testKey);
    [endpointId = ''] = await buildEndpoints(app.db, shop.accountId, 1);
    for (let n = 0; n < MONTHS; n += 1)
      told.push(
        await inMonth(monthsAfter(oldest, n), () =>
          buildTold(app.db, { accountId: shop.accountId, endpointId }),
        ),
      );
    await buildSessions(app.db, shop.accountId, 20);
    await app.db.raw('ANALYZE payables, payments, events, webhook_deliveries');
  });
  after(() => app.close());

  const deps = () => ({ db: app.db, logger: app.logger, ...BELL });
  const claim = (sessionId: string, payloadKey = newId('pay_')) =>
    claimSession(app.db, newPayment(sessionId, { payloadKey }), BELL);
  const begun = async (sessionId: string): Promise<Payment> => {
    const claimed = await claim(sessionId);
    assert.ok(claimed.kind === 'claimed');
    const payment = await beginSettlement(app.db, claimed.paymentId, 30_000);
    assert.ok(payment);
    return payment;
  };

  it('are so where the database was empty when it was asked for, and stay as they are elsewhere', async () => {
    assert.equal(await areByMonth(app.db), true);
    let lines = '';
    const listening = createLogger(
      'warn',
      'test',
      new Writable({
        write(chunk, _encoding, done) {
          lines += chunk;
          done();
        },
      }),
    );
    await migrate(config, listening, { byMonth: true });
    assert.match(lines, /"event":"config.few_locks","max_locks_per_transaction":64/);
    const other = loadConfig({ DATABASE_URL: await createMigratedDatabase('whole') }, 'migrate');
    const whole = await openTestApp({ DATABASE_URL: other.database.url });
    try {
      const { accountId } = await buildMerchant(whole.db);
      await buildSession(whole.db, accountId);
      await assert.rejects(
        migrate(other, logger, { byMonth: true }),
        /only an empty database can be set up by month/,
      );
      assert.equal(await areByMonth(whole.db), false);
      assert.equal(await makeMonthsAhead(whole.db), 0);
      assert.equal((await whole.db('checkoutSessions')).length, 1);
    } finally {
      await whole.close();
    }
  });

  it('take a session from its creation to its event, each row in its month', async () => {
    const { body } = await api
      .post('/v1/checkout/sessions', {
        line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Tea' } } }],
      })
      .expect(200);
    const payment = await begun(body.id);
    const settled = { payment, transaction: '0xabc', payer: '0x1', observation: SAID };
    assert.equal(await succeedSettled(deps(), settled), 'done');
    await api.get(`/v1/checkout/sessions/${body.id}`).expect(200);
    const link = await findLinkedSession(app.db, body.id);
    assert.deepEqual([link?.status, link?.payment?.id], ['complete', payment.id]);
    const { deliveries } = await takeDueDeliveries(app.db, shop.accountId, ROOM);
    assert.equal(JSON.parse(deliveries[0]?.body ?? '{}').data.object.id, body.id);
    for (const [table, id] of Object.entries({ payables: body.id, payments: payment.id })) {
      const { rows } = await app.db.raw('SELECT tableoid::regclass::text AS name FROM ?? WHERE id = ?', [
        table,
        id,
      ]);
      assert.ok(rows[0].name.endsWith(newest.replace('-', '_')), rows[0].name);
    }
  });

  it('let a signature claim once over all months and sessions, until it is released', async () => {
    const [one, other] = await buildSessions(app.db, shop.accountId, 2);
    assert.ok(one && other);
    const key = newId('pay_');
    const claims = await Promise.all([claim(one.id, key), claim(other.id, key)]);
    assert.deepEqual(claims.map(({ kind }) => kind).sort(), ['claimed', 'lost']);
    const [won, lost] = claims[0]?.kind === 'claimed' ? [one, other] : [other, one];
    assert.equal(await isPayloadUsed(app.db, key, won.id), true);
    const payment = await Payment.query(app.db).findOne({ payloadKey: key }).throwIfNotFound();
    const failed = { code: 'payment_failed', released: true, watchAt: undefined, said: SAID };
    assert.equal(await failPayment(deps(), payment, failed), 'done');
    assert.equal(await isPayloadUsed(app.db, key, won.id), false);
    assert.equal((await claim(lost.id, key)).kind, 'lost');
    assert.equal((await claim(won.id, key)).kind, 'claimed');
    assert.equal((await claim(lost.id, told[0]?.payment.payloadKey)).kind, 'lost');
  });

  it('let a transfer prove one payment', async () => {
    const [one, other] = await buildSessions(app.db, shop.accountId, 2);
    const proof = { transaction: '0xonce', payer: undefined, proofIndex: 0 };
    const prove = async (id: string) => succeedPayment(deps(), await begun(id), { proof, said: SAID });
    assert.deepEqual([await prove(one?.id ?? ''), await prove(other?.id ?? '')], ['done', 'proof_taken']);
  });

  it('are read no further than a statement needs', async () => {
    const old = told[3] ?? assert.fail();
    const session = (await buildSession(app.db, shop.accountId)).id;
    const acts: Record<string, [number, () => Promise<unknown>]> = {
      link: [2, () => findLinkedSession(app.db, old.session.id)],
      retrieve: [2, () => api.get(`/v1/checkout/sessions/${old.session.id}`).expect(200)],
      payment: [1, () => api.get(`/v1/payments/${old.payment.id}`).expect(200)],
      event: [1, () => Event.query(app.db).findById(old.eventId).execute()],
      decided: [1, () => listDecided(app.db, [old.payment.id])],
      'used before?': [0, () => isPayloadUsed(app.db, newId('pay_'), session)],
      claim: [1, () => claim(session)],
      // The months ahead, which are empty, and what lies behind them.
      'the newest sessions': [6, () => api.get('/v1/checkout/sessions?limit=10').expect(200)],
      'sessions of before': [
        5,
        () => api.get(`/v1/checkout/sessions?limit=1&starting_after=${old.session.id}`).expect(200),
      ],
    };
    for (const [what, [most, act]] of Object.entries(acts))
      for (const names of await partitionsRead(app.db, act))
        assert.ok(names.length <= most, `${what}: ${names.length} of at most ${most}: ${names.join(', ')}`);
  });

  it('would notice that all months are read', async () => {
    const all = await partitionsRead(app.db, () => app.db('payments').where({ payer: 'nobody' }));
    assert.ok((all[0]?.length ?? 0) > MONTHS);
  });

  it('find what is due in any month', async () => {
    const undecided = await inMonth(monthsAfter(newest, -2), () => buildSession(app.db, shop.accountId));
    const payment = await begun(undecided.id);
    await app
      .db('payments')
      .where({ id: payment.id })
      .update({ dueAt: new Date(0) });
    const due = await listDuePayments(app.db, ['confirm'], 10);
    assert.ok(due.some(({ id }) => id === payment.id));
  });

  it('are made ahead by the clean-up, by one of many at once, and a row finds a place without', async () => {
    const far = monthsAfter(newest, 5);
    const late = await inMonth(far, () => buildTold(app.db, { accountId: shop.accountId, endpointId }));
    const names = [...slicesOf('payables', far), ...slicesOf('payments', far)].map(
      ({ partition }) => partition,
    );
    const there = async () => (await app.db('pgClass').whereIn('relname', names)).length;
    assert.equal(await there(), 0);
    await inMonth(monthsAfter(newest, 3), async () => {
      const made = await Promise.all([1, 2, 3].map(() => makeMonthsAhead(app.db)));
      await cleanUp({ db: app.db, logger, config: app.config }, () => false);
      assert.ok(made.reduce((sum, each) => sum + each, 0) <= 18);
    });
    assert.equal(await there(), names.length);
    const { rows } = await app.db.raw('SELECT tableoid::regclass::text AS name FROM payments WHERE id = ?', [
      late.payment.id,
    ]);
    assert.equal(rows[0].name, slicesOf('payments', far)[0]?.partition);
    const { rows: early } = await app.db.raw(
      `SELECT FROM payments WHERE tableoid::regclass::text LIKE '%between%'`,
    );
    assert.equal(early.length, 0);
  });

  it('get an index month by month, and lose it at once', async () => {
    const index = { name: 'payments_payer_tried', on: 'payments (payer) WHERE payer IS NOT NULL' };
    await createIndexConcurrently(app.db, index);
    await createIndexConcurrently(app.db, index);
    const count = async () =>
      (await app.db('pgIndexes').where('indexname', 'like', 'payments_payer_tried%')).length;
    assert.ok((await count()) > MONTHS);
    await dropIndexConcurrently(app.db, index.name);
    assert.equal(await count(), 0);
    await assert.rejects(createIndexConcurrently(app.db, { ...index, unique: true }), /a table of its own/);
  });

  it('let months go at once, whole, while their signatures stay used', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'by-month-spec-'));
    const [first, second] = told;
    assert.ok(first && second);
    try {
      const run = { before: monthsAfter(oldest, 2), folder, onWritten: async () => {} };
      const { archived, kept } = await archiveMonths(app.db, run);
      assert.deepEqual(kept, []);
      assert.deepEqual(
        archived.map(({ part, removed }) => [part.month, removed]),
        [
          [oldest, 4],
          [monthsAfter(oldest, 1), 4],
        ],
      );
      const names = archived[0]?.detached ?? [];
      assert.equal(names.length, 6);
      const payments = names.find((name) => name.includes('payments')) ?? assert.fail();
      assert.equal((await app.db(payments)).length, 1);

      assert.ok((archived[0]?.lockedMs ?? 1e9) < 1000);
      assert.equal((await app.db('payments').where({ id: first.payment.id })).length, 0);
      await client(app).get(`/c/${second.session.id}`).expect(404);
      const { id } = await buildSession(app.db, shop.accountId);
      assert.equal((await claim(id, first.payment.payloadKey)).kind, 'lost');
      assert.deepEqual(await archiveMonths(app.db, run), { archived: [], kept: [] });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('let a month go that was never made, and whose rows lie between the others', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'by-month-spec-'));
    const month = monthsAfter(oldest, -3);
    const early = await inMonth(month, () => buildTold(app.db, { accountId: shop.accountId, endpointId }));
    try {
      const run = { before: monthsAfter(oldest, -2), folder, onWritten: async () => {} };
      const { archived } = await archiveMonths(app.db, run);
      assert.deepEqual([archived[0]?.removed, archived[0]?.detached.length], [4, 6]);
      assert.equal((await app.db('payables').where({ id: early.session.id })).length, 0);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('do not go back to what cannot keep them', async () => {
    await assert.rejects(app.db.migrate.down({ ...migrationConfig, name: ARCHIVE }), /archived payments/);
    await app.db('paymentMarks').delete();
    await assert.rejects(app.db.migrate.down({ ...migrationConfig, name: ARCHIVE }), /kept by month/);
    returnToPresent();
  });
});
