import assert from 'node:assert/strict';
import { buildMerchant, buildPaidSession, type Merchant } from '../../lab/world/shop/factories.js';
import { IdempotencyKeyTaken, type Reply, renderAndStore } from '../../shared/accounts/idempotency.js';
import { correctClock, doClocksDisagree, unmockedHostMs } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';
import { cleanUp } from '../../workers/process/clean-up.js';
import { client } from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';

const HOUR_MS = 3_600_000;

describe("while Postgres' clock alone is off", () => {
  let app: TestApp;
  let merchant: Merchant;
  before(async () => {
    app = await openTestApp({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' });
    merchant = await buildMerchant(app.db);
  });
  afterEach(() => moveClock(0));
  after(() => app.close());

  /** As an answer of a Postgres says whose clock is ahead by `ms`. */
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
    cleanUp({ db: app.db, logger: createLogger('silent', 'test'), config: app.config }, () => false);

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
      const reply: Reply<string> = { render: String, idempotent: request };
      const store = (): Promise<string> => app.db.transaction((trx) => renderAndStore(trx, reply, 'answer'));
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
});
