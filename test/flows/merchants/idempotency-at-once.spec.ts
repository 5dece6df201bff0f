import assert from 'node:assert/strict';
import type { Response, Test } from 'supertest';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { buildSession } from '../../../lab/world/shop/factories.js';
import { KEPT_FOR_MS } from '../../../shared/accounts/idempotency.js';
import { IdempotencyRecord } from '../../../shared/accounts/model.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import type { Knex } from '../../../shared/db/knex.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { Event, WebhookEndpoint } from '../../../shared/webhooks/model.js';
import { client } from '../../support/api-client.js';
import { openTestApp } from '../../support/app.js';
import { forAllTests, forEachTest } from '../../support/hooks.js';
import { assertReused, atOnce, buildKeyedShop, hooks, keyed, PRIVATE } from '../../support/keyed-shop.js';
import { ENDPOINTS, minimal, SESSIONS } from '../../support/orders.js';

const MINUTE_MS = 60_000;
/** The requests that are sent at once: twice as many as a process has connections to Postgres. */
const SENT = 20;
const ROUNDS = 10;

describe('Idempotency-Key', () => {
  const app = forAllTests(() => openTestApp(PRIVATE));
  const shop = forEachTest(() => buildKeyedShop(app));
  afterEach(() => resetClock());

  /** All answers to one request are equal, and all but one are marked as replayed. */
  function assertOneFirst(answers: Response[]): void {
    for (const res of answers) assert.equal(res.status, 200, res.text);
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    const replayed = answers.filter((res) => res.get('Idempotent-Replayed') === 'true');
    assert.equal(replayed.length, answers.length - 1);
  }

  describe(`of ${SENT} simultaneous creates`, () => {
    it(`makes one session and ${SENT} equal answers`, async () => {
      assertOneFirst(await atOnce(SENT, () => shop.create()));
      assert.equal((await shop.sessions()).length, 1);
    });

    it('makes one session over both encodings', async () => {
      assertOneFirst(
        await atOnce(SENT, (i) => (i % 2 === 0 ? shop.create() : keyed(shop.test.form(SESSIONS, minimal)))),
      );
      assert.equal((await shop.sessions()).length, 1);
    });

    for (const size of ['1', '2']) {
      it(`makes one session with a connection pool of ${size}`, async () => {
        const narrow = await openTestApp({ ...PRIVATE, DATABASE_POOL_SIZE: size });
        try {
          const mine = client(narrow, shop.testKey);
          assertOneFirst(await atOnce(SENT, () => keyed(mine.post(SESSIONS, minimal))));
          assert.equal((await shop.sessions()).length, 1);
          assertOneFirst(await atOnce(SENT, () => keyed(mine.post(ENDPOINTS, hooks), 'hooks')));
          const [{ id } = assert.fail()] = await shop.sessions();
          assertOneFirst(await atOnce(SENT, () => keyed(mine.post(`${SESSIONS}/${id}/expire`), 'expire')));
        } finally {
          await narrow.close();
        }
      });
    }

    it('makes one session over two processes', async () => {
      const other = await openTestApp(PRIVATE);
      try {
        const clients = [shop.test, client(other, shop.testKey)];
        const send = (i: number): Test => keyed((clients[i % 2] ?? shop.test).post(SESSIONS, minimal));
        assertOneFirst(await atOnce(SENT, send));
        assert.equal((await shop.sessions()).length, 1);
      } finally {
        await other.close();
      }
    });

    it('makes one session for each key', async () => {
      const answers = await atOnce(SENT, (i) => shop.create(minimal, `key-${i % 5}`));
      for (let k = 0; k < 5; k++) assertOneFirst(answers.filter((_, i) => i % 5 === k));
      assert.equal((await shop.sessions()).length, 5);
    });

    it('makes one new session when the key is 24 hours old', async () => {
      advanceClock(-KEPT_FOR_MS - MINUTE_MS);
      const old = await shop.create();
      resetClock();
      const answers = await atOnce(SENT, () => shop.create());
      assertOneFirst(answers);
      assert.notEqual(answers[0]?.body.id, old.body.id);
      assert.equal((await shop.sessions()).length, 2);
    });
  });

  it(`of ${SENT} simultaneous expires makes one event`, async () => {
    const { id } = await buildSession(app.db, shop.accountId);
    assertOneFirst(await atOnce(SENT, () => keyed(shop.test.post(`${SESSIONS}/${id}/expire`))));
    assert.equal(await Event.query(app.db).where({ payableId: id }).resultSize(), 1);
  });

  it(`of ${SENT} simultaneous webhook creates makes one endpoint with one secret`, async () => {
    assertOneFirst(await atOnce(SENT, () => keyed(shop.test.post(ENDPOINTS, hooks))));
    const rows = await WebhookEndpoint.query(app.db).where({ accountId: shop.accountId });
    assert.equal(rows.length, 1);
  });

  it(`of ${SENT} simultaneous webhook updates applies one`, async () => {
    const { body } = await shop.test.post(ENDPOINTS, hooks);
    assertOneFirst(
      await atOnce(SENT, () => keyed(shop.test.post(`${ENDPOINTS}/${body.id}`, { description: 'Same' }))),
    );
  });

  describe('in a race between two different requests', () => {
    it('accepts one create and refuses the other, which leaves no session behind', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const key = `race-${round}`;
        const bodies = ['a', 'b'].map((ref) => ({ ...minimal, client_reference_id: `${ref}-${round}` }));
        const answers = await Promise.all(bodies.map((body) => shop.create(body, key)));
        const winner = answers.findIndex(({ status }) => status === 200);
        assert.notEqual(winner, -1);
        assertReused(answers[1 - winner] ?? assert.fail());
        const rows = await CheckoutSession.query(app.db)
          .where({ accountId: shop.accountId })
          .where('clientReferenceId', 'like', `_-${round}`);
        assert.deepEqual(
          rows.map(({ id }) => id),
          [answers[winner]?.body.id],
        );
      }
    });

    it('accepts the request on one path and refuses the other, which leaves nothing behind', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const key = `paths-${round}`;
        const [session, endpoint] = await Promise.all([
          shop.create(minimal, key),
          keyed(shop.test.post(ENDPOINTS, hooks), key),
        ]);
        const made = session.status === 200 ? 1 : 0;
        assertReused(made === 1 ? endpoint : session);
        const counts = [
          await CheckoutSession.query(app.db).where({ accountId: shop.accountId }).resultSize(),
          await WebhookEndpoint.query(app.db).where({ accountId: shop.accountId }).resultSize(),
        ];
        assert.equal((counts[0] ?? 0) + (counts[1] ?? 0), round + 1);
      }
    });

    /** Sends a request while another transaction has used the key and has not committed yet: the request has to wait for it. */
    async function whileKeyIsTaken(
      key: string,
      meanwhile: () => Test,
    ): Promise<{ answer: Response; waited: boolean }> {
      const trx = await app.db.transaction();
      await IdempotencyRecord.query(trx).insert({
        accountId: shop.accountId,
        livemode: false,
        key,
        path: '/v1/elsewhere',
        fingerprint: Buffer.alloc(32),
        answer: '{}',
        sealed: false,
        createdAt: new Date(nowMs()),
      });
      let answered = false;
      const answer = Promise.resolve(meanwhile()).finally(() => {
        answered = true;
      });
      await untilRequestWaitsFor(trx);
      const waited = !answered;
      await trx.commit();
      return { answer: await answer, waited };
    }

    async function untilRequestWaitsFor(trx: Knex.Transaction): Promise<void> {
      await eventually(async () => {
        const { rows } = await trx.raw(
          'SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))',
        );
        assert.equal(rows.length, 1, 'no request waits for the key');
      });
    }

    it('rolls back an expire that comes second: the session is open and has no event', async () => {
      const { id } = await buildSession(app.db, shop.accountId);
      const { answer, waited } = await whileKeyIsTaken('taken', () =>
        keyed(shop.test.post(`${SESSIONS}/${id}/expire`), 'taken'),
      );
      assert.ok(waited);
      assertReused(answer);
      assert.equal((await CheckoutSession.query(app.db).findById(id))?.status, 'open');
      assert.equal(await Event.query(app.db).where({ payableId: id }).resultSize(), 0);
    });

    it('rolls back a create, a webhook create and an update that come second', async () => {
      const { id } = (await shop.test.post(ENDPOINTS, hooks)).body;
      const sends: (() => Test)[] = [
        () => shop.create(minimal, 'taken-0'),
        () => keyed(shop.test.post(ENDPOINTS, hooks), 'taken-1'),
        () => keyed(shop.test.post(`${ENDPOINTS}/${id}`, { disabled: true }), 'taken-2'),
      ];
      for (const [i, send] of sends.entries()) {
        const { answer, waited } = await whileKeyIsTaken(`taken-${i}`, send);
        assert.ok(waited);
        assertReused(answer);
      }
      assert.deepEqual(await shop.sessions(), []);
      const endpoints = await WebhookEndpoint.query(app.db).where({ accountId: shop.accountId });
      assert.deepEqual(
        endpoints.map((endpoint) => [endpoint.id, endpoint.status]),
        [[id, 'enabled']],
      );
    });
  });
});
