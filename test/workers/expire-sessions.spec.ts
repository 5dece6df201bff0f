import assert from 'node:assert/strict';
import { buildPaidSession, buildSession } from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { now } from '../../shared/process/clock.js';
import { createdAt } from '../../shared/values/ids.js';
import { Event } from '../../shared/webhooks/model.js';
import { client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { openExpiring, overdueBy } from '../support/expiring.js';
import { forAllTests } from '../support/hooks.js';
import { SESSIONS } from '../support/orders.js';
import { testServices } from '../support/suite.js';

/** More than one batch of the worker. */
const MANY = 1100;

describe('the worker that expires sessions', () => {
  const expiring = forAllTests(() => openExpiring('expire_sessions'));
  const app = forAllTests(() => openTestApp({ DATABASE_URL: expiring.databaseUrl }));

  const stores: [name: string, environment: () => Record<string, string>][] = [
    ['Redis', () => ({ REDIS_URL: testServices().redisUrl })],
    ['Postgres', () => ({})],
  ];
  for (const [name, environment] of stores) {
    describe(`with its queue in ${name}`, () => {
      after(() => expiring.closeWorkers());

      it('expires each session once with four workers, while merchants expire some of them', async () => {
        const ids = await expiring.buildOverdue(MANY);
        const contested = ids.slice(-40);
        const api = client(app, expiring.shop.testKey);
        const [answers] = await Promise.all([
          Promise.all(contested.map((id) => api.post(`${SESSIONS}/${id}/expire`))),
          ...Array.from({ length: 4 }, () => expiring.startWorkerWith(environment())),
        ]);
        for (const { status, body } of answers) {
          assert.equal(
            status === 200 ? body.status : body.error.code,
            status === 200 ? 'expired' : 'checkout_session_not_open',
          );
        }
        const meanwhile = await expiring.buildOverdue(20);
        await expiring.untilExpired([...ids, ...meanwhile]);
      });

      it('expires overdue sessions, each with one event that has the whole session', async () => {
        const fields = {
          metadata: { order: '7', ['__proto__']: 'kept' },
          successUrl: 'https://expiring.shop.example/thanks',
          cancelUrl: 'https://expiring.shop.example/cart',
          clientReferenceId: 'order-7',
          customerEmail: 'buyer@mail.example',
        };
        const test = await buildSession(expiring.db, expiring.shop.accountId, { ...fields, ...overdueBy(1) });
        const live = await buildSession(expiring.db, expiring.shop.accountId, {
          livemode: true,
          ...overdueBy(3_600_000),
        });
        await expiring.untilExpired([test.id, live.id]);
        for (const [session, key] of [
          [test, expiring.shop.testKey],
          [live, expiring.shop.liveKey],
        ] as const) {
          const event = await Event.query(expiring.db).findOne({ payableId: session.id }).throwIfNotFound();
          const { text, body } = await client(app, key).get(`${SESSIONS}/${session.id}`);
          assert.equal(JSON.stringify(event.object), text);
          assert.deepEqual([body.status, body.payment_status, body.url], ['expired', 'unpaid', null]);
          assert.deepEqual([event.livemode, event.accountId], [session.livemode, expiring.shop.accountId]);
          assert.match(event.id, /^evt_/);
        }
      });

      it('leaves sessions that are not due or no longer open', async () => {
        const open = await buildSession(expiring.db, expiring.shop.accountId, overdueBy(-60_000));
        const processing = await buildSession(expiring.db, expiring.shop.accountId, {
          status: 'processing',
          paymentId: 'pay_elsewhere',
          ...overdueBy(60_000),
        });
        const { session: paid } = await buildPaidSession(expiring.db, expiring.shop.accountId);
        await CheckoutSession.query(expiring.db).patch(overdueBy(60_000)).where({ id: paid.id });
        const expired = await buildSession(expiring.db, expiring.shop.accountId, {
          status: 'expired',
          ...overdueBy(60_000),
        });
        // A worker has checked twice once these sessions are expired.
        await expiring.untilExpired(await expiring.buildOverdue(1));
        await expiring.untilExpired(await expiring.buildOverdue(1));
        const kept = [open, processing, paid, expired];
        const rows = await CheckoutSession.query(expiring.db)
          .findByIds(kept.map(({ id }) => id))
          .orderBy('id');
        assert.deepEqual(
          rows.map(({ status }) => status),
          ['open', 'processing', 'complete', 'expired'],
        );
        const events = await Event.query(expiring.db).whereIn(
          'payableId',
          kept.map(({ id }) => id),
        );
        assert.deepEqual(events, []);
        await CheckoutSession.query(expiring.db).patch({ status: 'expired' }).where({ id: open.id });
      });

      it('expires a session when its time has come, and not before', async () => {
        const expiresAt = new Date(now().getTime() + 1500);
        const { id } = await buildSession(expiring.db, expiring.shop.accountId, { expiresAt });
        await expiring.untilExpired([id]);
        const event = await Event.query(expiring.db).findOne({ payableId: id }).throwIfNotFound();
        assert.ok(createdAt(event.id) >= expiresAt);
      });

      it('expires sessions after other workers have stopped', async () => {
        for (const worker of [...expiring.workers]) {
          const ids = await expiring.buildOverdue(5);
          await worker.close();
          expiring.workers.delete(worker);
          if (expiring.workers.size === 0) await expiring.startWorkerWith(environment());
          await expiring.untilExpired(ids);
        }
      });
    });
  }
});
