import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { buildMerchant, buildPaidSession, buildSession } from '../../lab/world/shop/factories.js';
import {
  type AnswerRendering,
  IdempotencyKeyTaken,
  renderAndStore,
} from '../../shared/accounts/idempotency.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { correctClock, doClocksDisagree, unmockedHostMs } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';
import { failedColumns } from '../../shared/settlement/fail.js';
import { Event, WebhookDelivery, WebhookEndpoint } from '../../shared/webhooks/model.js';
import { recordSuccess } from '../../shared/webhooks/record-success.js';
import {
  type TakenDelivery,
  takeDueDeliveries,
  takeQuarantinedDelivery,
} from '../../shared/webhooks/take-due.js';
import { cleanUp } from '../../workers/process/clean-up.js';
import { client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { stopClock } from '../support/stopped-clock.js';
import { ALLOWANCE } from '../support/webhook-flow.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TRY = { at: '2026-11-01T00:00:00.000Z', durationMs: 12, status: 200, error: null, answer: 'thanks' };

describe("while Postgres' clock alone is off", () => {
  const app = forAllTests(() => openTestApp({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' }));
  const merchant = forAllTests(() => buildMerchant(app.db));
  afterEach(() => moveClock(0));

  /** Takes the answer of a Postgres whose clock is ahead by `ms`. */
  function moveClock(ms: number): void {
    const at = unmockedHostMs();
    correctClock(at + ms, { askedAtMs: at, answeredAtMs: at });
  }

  async function whileAhead<T>(ms: number, act: () => Promise<T>): Promise<T> {
    moveClock(ms);
    const result = await act();
    // No new connection has read the right time meanwhile.
    assert.ok(doClocksDisagree());
    moveClock(0);
    return result;
  }

  const clean = (): Promise<void> =>
    cleanUp(
      { db: app.db, logger: createLogger('silent', 'test'), config: { retentionPersonalDays: 30 } },
      () => false,
    );

  describe('an hour', () => {
    /** Rolls an endpoint's secret: both sign for half an hour. */
    async function roll(): Promise<{ id: string; sealed: string }> {
      const api = client(app, merchant.testKey);
      const { body } = await api.post('/v1/webhook_endpoints', { url: 'http://localhost/hooks' }).expect(200);
      const { sealedSecret } = await endpointOf(body.id);
      await api.post(`/v1/webhook_endpoints/${body.id}/roll_secret`, { expires_in: 1800 }).expect(200);
      return { id: body.id, sealed: sealedSecret };
    }

    const endpointOf = async (id: string): Promise<WebhookEndpoint> =>
      await WebhookEndpoint.query(app.db).findById(id).throwIfNotFound();

    async function expireSession({ id: endpointId }: { id: string }): Promise<WebhookDelivery> {
      const { id } = await buildSession(app.db, merchant.accountId);
      await client(app, merchant.testKey).post(`/v1/checkout/sessions/${id}/expire`).expect(200);
      const event = await Event.query(app.db).findOne({ payableId: id }).throwIfNotFound();
      return await WebhookDelivery.query(app.db).findOne({ eventId: event.id, endpointId }).throwIfNotFound();
    }

    /** Takes a delivery to the endpoint in each of the ways in which workers take them. */
    async function takeInEachWay(rolled: { id: string }): Promise<(TakenDelivery | undefined)[]> {
      // A slot is passed on after a success within a second.
      stopClock();
      try {
        await expireSession(rolled);
        const { deliveries } = await takeDueDeliveries(app.db, merchant.accountId, ALLOWANCE);
        const inTurn = deliveries.find(({ endpoint }) => endpoint.id === rolled.id);
        assert.ok(inTurn);
        await expireSession(rolled);
        const next = await recordSuccess(app.db, { delivery: inTurn, entry: TRY, bytesToPassOn: 10_000 });
        const quarantined = await expireSession(rolled);
        await quarantined.$query(app.db).patch({ lostTakes: 2 });
        return [inTurn, next?.deliveries[0], await takeQuarantinedDelivery(app.db, quarantined.id)];
      } finally {
        mock.restoreAll();
      }
    }

    async function assertBothSign(rolled: { id: string; sealed: string }): Promise<void> {
      const { sealedSecret } = await endpointOf(rolled.id);
      for (const taken of await takeInEachWay(rolled))
        assert.deepEqual(taken?.endpoint.sealedSecrets, [sealedSecret, rolled.sealed]);
    }

    it('ahead, the previous secret of a webhook endpoint signs too, then and afterwards', async () => {
      const rolled = await roll();
      await whileAhead(HOUR_MS, () => assertBothSign(rolled));
      await whileAhead(HOUR_MS, clean);
      await assertBothSign(rolled);
    });

    it('behind, a secret that is rolled signs for its time all the same', async () => {
      const rolled = await whileAhead(-HOUR_MS, roll);
      await clean();
      await assertBothSign(rolled);
    });
  });

  it("months ahead, no buyer's email and no receiver's answer is removed", async () => {
    await client(app, merchant.testKey)
      .post('/v1/webhook_endpoints', { url: 'http://localhost/hooks' })
      .expect(200);
    const { id } = await buildSession(app.db, merchant.accountId, { customerEmail: 'buyer@mail.example' });
    await client(app, merchant.testKey).post(`/v1/checkout/sessions/${id}/expire`).expect(200);
    const event = await Event.query(app.db).findOne({ payableId: id }).throwIfNotFound();
    await WebhookDelivery.query(app.db)
      .patch({ status: 'succeeded', dueAt: null, tries: 1, history: [TRY] })
      .where({ eventId: event.id });
    await whileAhead(60 * DAY_MS, clean);
    const { customerEmail } = await CheckoutSession.query(app.db).findById(id).throwIfNotFound();
    assert.equal(customerEmail, 'buyer@mail.example');
    const [delivery] = await WebhookDelivery.query(app.db).where({ eventId: event.id });
    assert.deepEqual(delivery?.history, [TRY]);
  });

  describe('a day', () => {
    const A_DAY = 25 * HOUR_MS;

    /** Sends a request for a refund, each time the same. */
    async function refundOnce(): Promise<() => Promise<string>> {
      const { payment } = await buildPaidSession(app.db, merchant.accountId);
      return async () => {
        const { body } = await client(app, merchant.testKey)
          .post('/v1/refunds')
          .set('Idempotency-Key', `refund ${payment.id}`)
          .send({ payment: payment.id, amount: 1 })
          .expect(200);
        return body.id;
      };
    }

    it('ahead, a repeated request makes no second refund, then or afterwards', async () => {
      const refund = await refundOnce();
      const first = await refund();
      assert.equal(await whileAhead(A_DAY, refund), first);
      await whileAhead(A_DAY, clean);
      assert.equal(await refund(), first);
    });

    it('ahead, a simultaneous request does not take the place of the first', async () => {
      const { accountId } = merchant;
      const request = { accountId, livemode: false, key: 'both', path: '/', fingerprint: Buffer.alloc(32) };
      const rendering: AnswerRendering<string> = { render: String, idempotent: request };
      const store = (): Promise<string> =>
        app.db.transaction((trx) => renderAndStore(trx, rendering, 'answer'));
      await store();
      await assert.rejects(whileAhead(A_DAY, store), IdempotencyKeyTaken);
    });

    it('behind, the answer to a request is kept for a day all the same', async () => {
      const refund = await refundOnce();
      const first = await whileAhead(-A_DAY, refund);
      await clean();
      assert.equal(await refund(), first);
    });
  });

  it('eight days back, the watch of a failed payment begins by the other clock', async () => {
    const startedAt = new Date(unmockedHostMs());
    const columns = await whileAhead(-8 * DAY_MS, async () =>
      failedColumns({
        code: 'payment_failed',
        watchAt: undefined,
        said: { source: 'service', said: 'refused' },
      }),
    );
    assert.ok(Reflect.get(columns, 'failedAt') >= startedAt);
  });
});
