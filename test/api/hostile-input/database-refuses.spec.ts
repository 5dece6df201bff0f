import assert from 'node:assert/strict';
import { MARK } from '../../support/fuzz/hostile-values.js';
import { forAllTests } from '../../support/hooks.js';
import { assertError } from '../../support/hostile-input/assert-answers.js';
import { openHostileClient } from '../../support/hostile-input/client.js';
import { HOOK_URL, JSON_TYPE, minimal } from '../../support/hostile-input/order.js';
import { ENDPOINTS } from '../../support/orders.js';

describe('hostile input', () => {
  const web = forAllTests(openHostileClient);
  afterEach(() => web.assertUnharmed());

  it('that the database refuses is logged without data of the buyer', async () => {
    await web.db.raw(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`);
    try {
      await web.db.raw('CREATE TRIGGER refuse BEFORE INSERT ON payables EXECUTE FUNCTION refuse()');
      await web.db.raw('CREATE TRIGGER refuse BEFORE INSERT ON webhook_endpoints EXECUTE FUNCTION refuse()');
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
