import assert from 'node:assert/strict';
import { buildMerchant, buildSession } from '../../lab/world/shop/factories.js';
import { IdempotencyRecord } from '../../shared/accounts/model.js';
import { MAX_REMOVED_BATCH_BYTES } from '../../shared/limits/bounds.js';
import { advanceClock, resetClock } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';
import { removeExpiredIdempotencyRecords } from '../../shared/upkeep/retention.js';
import { Event, WebhookDelivery } from '../../shared/webhooks/model.js';
import { cleanUp } from '../../workers/process/clean-up.js';
import { client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { loggerWithLines } from '../support/log-lines.js';

const DAY_MS = 24 * 3_600_000;
const TRY = { at: '2026-11-01T00:00:00.000Z', durationMs: 12, status: 200, error: null, answer: 'thanks' };

describe('the clean-up', () => {
  const app = forAllTests(() => openTestApp({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' }));
  const merchant = forAllTests(() => buildMerchant(app.db));
  afterEach(resetClock);

  const clean = (): Promise<void> =>
    cleanUp({ db: app.db, logger: createLogger('silent', 'test'), config: app.config }, () => false);

  it('removes idempotency records after one day, and not sooner', async () => {
    const post = () =>
      client(app, merchant.testKey)
        .post('/v1/webhook_endpoints')
        .set('Idempotency-Key', 'once')
        .send({ url: 'http://localhost/hooks' });
    const first = await post();
    const { accountId } = merchant;
    const count = (): Promise<number> =>
      IdempotencyRecord.query(app.db).where({ accountId, key: 'once' }).resultSize();
    advanceClock(DAY_MS - 60_000);
    await clean();
    assert.equal(await count(), 1);
    assert.equal((await post()).text, first.text);
    advanceClock(120_000);
    await clean();
    assert.equal(await count(), 0);
  });

  it('removes records in batches of limited bytes, and at least one a batch', async () => {
    const keep = (key: string, bytes: number): Promise<unknown> =>
      app.db.raw(
        `INSERT INTO idempotency_records (account_id, livemode, key, path, fingerprint, answer, sealed, created_at)
         SELECT ?, false, ?, '/', '', (SELECT string_agg(md5(n::text), '') FROM generate_series(1, ?) n), false, now()`,
        [merchant.accountId, key, Math.ceil(bytes / 32)],
      );
    for (const [key, share] of [
      ['first', 1.2],
      ['second', 0.6],
      ['third', 0.6],
      ['fourth', 0.001],
    ] as const)
      await keep(key, MAX_REMOVED_BATCH_BYTES * share);
    // Other specs leave records.
    await IdempotencyRecord.query(app.db).delete().whereNot({ accountId: merchant.accountId });
    advanceClock(2 * DAY_MS);
    const removed: number[] = [];
    for (let batch = 0; batch < 4; batch += 1)
      removed.push(await removeExpiredIdempotencyRecords(app.db, 100));
    assert.deepEqual(removed, [1, 2, 1, 0]);
  });

  it('halves the batch after one that failed or took too long', async () => {
    await app.db.raw(`
      CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF (SELECT count(*) FROM removed) > 3 THEN RAISE 'it takes too long'; END IF; RETURN NULL; END $$`);
    await app.db.raw(`
      CREATE TRIGGER refuse_many AFTER DELETE ON idempotency_records REFERENCING OLD TABLE AS removed
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()`);
    try {
      await app.db.raw(
        `INSERT INTO idempotency_records (account_id, livemode, key, path, fingerprint, answer, sealed, created_at)
         SELECT ?, false, 'old ' || n, '/', '', '', false, now() - interval '2 days' FROM generate_series(1, 10) n`,
        [merchant.accountId],
      );
      await clean();
      assert.equal(await IdempotencyRecord.query(app.db).where('key', 'like', 'old %').resultSize(), 0);
    } finally {
      await app.db.raw('DROP FUNCTION refuse_many CASCADE');
    }
  });

  it("removes receivers' answers of finished deliveries after 30 days; sessions, events and tries stay", async () => {
    const { id } = await buildSession(app.db, merchant.accountId);
    await client(app, merchant.testKey).post(`/v1/checkout/sessions/${id}/expire`);
    const event = await Event.query(app.db).findOne({ payableId: id }).throwIfNotFound();
    const deliveries = async (): Promise<WebhookDelivery[]> =>
      await WebhookDelivery.query(app.db).where({ eventId: event.id });
    await WebhookDelivery.query(app.db)
      .patch({ status: 'succeeded', dueAt: null, tries: 1, history: [TRY] })
      .where({ eventId: event.id });
    advanceClock(29 * DAY_MS);
    await clean();
    assert.deepEqual((await deliveries())[0]?.history, [TRY]);
    advanceClock(2 * DAY_MS);
    await clean();
    assert.deepEqual((await deliveries())[0]?.history, [{ ...TRY, answer: null }]);
    assert.equal((await deliveries())[0]?.tries, 1);
    assert.ok(await Event.query(app.db).findById(event.id));
  });

  it('keeps pending deliveries of any age', async () => {
    const { id } = await buildSession(app.db, merchant.accountId);
    await client(app, merchant.testKey).post(`/v1/checkout/sessions/${id}/expire`);
    const event = await Event.query(app.db).findOne({ payableId: id }).throwIfNotFound();
    await WebhookDelivery.query(app.db)
      .patch({ dueAt: null, history: [TRY] })
      .where({ eventId: event.id });
    advanceClock(100 * DAY_MS);
    await clean();
    const [delivery] = await WebhookDelivery.query(app.db).where({ eventId: event.id });
    assert.deepEqual(delivery?.history, [TRY]);
  });

  it('logs one line with its result, or with its failure', async () => {
    const { logger, lines } = loggerWithLines();
    await cleanUp({ db: app.db, logger, config: app.config }, () => false);
    assert.equal(lines.at(-1)?.event, 'clean_up.finished');
    const closed = await openTestApp();
    await closed.close();
    await cleanUp({ db: closed.db, logger, config: app.config }, () => false);
    assert.equal(lines.at(-1)?.event, 'clean_up.failed');
  });
});
