import assert from 'node:assert/strict';
import { buildMerchant, buildSession } from '../../../lab/world/shop/factories.js';
import { MARK } from '../../support/fuzz/hostile-values.js';
import { forAllTests } from '../../support/hooks.js';
import { assertError, assertErrorShape } from '../../support/hostile-input/assert-answers.js';
import { openHostileClient } from '../../support/hostile-input/client.js';
import { DamagedRequests } from '../../support/hostile-input/damaged-requests.js';
import { HOOK_URL, JSON_TYPE, minimal } from '../../support/hostile-input/order.js';
import { ENDPOINTS } from '../../support/orders.js';

describe('hostile input', () => {
  const web = forAllTests(openHostileClient);
  afterEach(() => web.assertUnharmed());

  describe('when the database refuses', () => {
    it('logs the failure, but no data of the buyer', async () => {
      await web.db.raw(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`);
      try {
        await web.db.raw('CREATE TRIGGER refuse BEFORE INSERT ON payables EXECUTE FUNCTION refuse()');
        await web.db.raw(
          'CREATE TRIGGER refuse BEFORE INSERT ON webhook_endpoints EXECUTE FUNCTION refuse()',
        );
        const body = { ...minimal, metadata: { secret: MARK }, client_reference_id: MARK };
        const headers = { ...JSON_TYPE, 'Idempotency-Key': 'refused' };
        assertError(await web.post(JSON.stringify(body), headers), 500, 'internal_error');
        assertError(await web.json(body), 500, 'internal_error');
        const hook = { url: HOOK_URL, description: MARK };
        assertError(await web.json(hook, ENDPOINTS), 500, 'internal_error');
      } finally {
        await web.db.raw('DROP FUNCTION refuse CASCADE');
      }
      assert.match(web.logged.join(''), /"event":"request\.failed".*the disk is full/);
    });
  });

  describe('at random', () => {
    const SEEDS = [1, 20_261_101, 7_777_777];
    const REQUESTS = 1200;
    const LANES = 16;

    for (const seed of SEEDS) {
      it(`(${REQUESTS} requests from seed ${seed}) never causes a 500 or a response without the Error shape`, async () => {
        const own = await buildMerchant(web.db);
        const known = [
          (await buildSession(web.db, own.accountId)).id,
          (await buildSession(web.db, own.accountId, { status: 'complete' })).id,
          (await buildSession(web.db, own.accountId, { livemode: true })).id,
        ];
        const fuzz = new DamagedRequests(seed, [own.testKey, own.liveKey, web.shop.testKey], known);
        const seen = new Map<number, number>();
        const lane = async (): Promise<void> => {
          while (fuzz.made < REQUESTS) {
            const sent = fuzz.next();
            const answer = await web.send(sent);
            const report = `${JSON.stringify(sent).slice(0, 2000)}\n${answer.text}`;
            assert.ok([200, 400, 401, 404, 405].includes(answer.status), report);
            assert.match(String(answer.headers['request-id']), /^req_/, report);
            if (answer.status !== 200 && sent.method !== 'HEAD') assertErrorShape(answer);
            seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
            const { id } = answer.status === 200 && sent.method === 'POST' ? JSON.parse(answer.text) : {};
            if (id !== undefined) fuzz.addId(id);
          }
        };
        // The first failure ends all parallel runs.
        const stop = (error: unknown): never => {
          fuzz.made = REQUESTS;
          throw error;
        };
        const lanes = await Promise.allSettled(Array.from({ length: LANES }, () => lane().catch(stop)));
        for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason;
        // Requests got past the checks.
        for (const status of [200, 400, 401, 404, 405]) assert.ok((seen.get(status) ?? 0) >= 10, `${status}`);
        const text = web.logged.join('');
        assert.doesNotMatch(text, /"level":"(error|fatal|warn)"/);
        for (const secret of [own.testKey, own.liveKey]) assert.ok(!text.includes(secret));
        assert.equal(text.split('"event":"request.finished"').length - 1, fuzz.made);
      });
    }
  });
});
