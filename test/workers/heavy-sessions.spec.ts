import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { killProcesses, startWorkerProcess } from '../../lab/world/processes/processes.js';
import { startReceiver } from '../../lab/world/receiver/receiver.js';
import { buildEndpoints, buildMerchant, buildSession } from '../../lab/world/shop/factories.js';
import { loadConfig } from '../../shared/config/config.js';
import { MAX_EXPIRED_BATCH_BYTES } from '../../shared/limits/bounds.js';
import { leaveToSweep } from '../../shared/queues/delivery-notifier.js';
import { createSecretBox } from '../../shared/secrets/secrets.js';
import { expireOverdueSessions } from '../../shared/settlement/expire-overdue.js';
import { openExpiring, overdueBy } from '../support/expiring.js';
import { buildHeavyOverdue } from '../support/heavy-overdue.js';
import { forAllTests } from '../support/hooks.js';

const DEPS = { notifyDeliveries: leaveToSweep };
const MANY = 300;
/** Less memory than two batches of such sessions and their events take. */
const SMALL_HEAP = '--max-old-space-size=56';

describe('sessions of full size that are all overdue at once', () => {
  const expiring = forAllTests(() => openExpiring('heavy_sessions'));
  const receiver = forAllTests(startReceiver);
  after(killProcesses);

  it('are expired in batches of limited bytes, and at least one a batch', async () => {
    const ids = await buildHeavyOverdue(expiring.db, expiring.shop.accountId, 70);
    const first = await expireOverdueSessions(expiring.db, 500, DEPS);
    const { rows } = await expiring.db.raw(
      'SELECT sum(octet_length(object::text))::int AS bytes FROM events',
    );
    assert.ok(first > 1 && first < ids.length, `${first} at once`);
    assert.ok(rows[0].bytes < MAX_EXPIRED_BATCH_BYTES * 1.1, `${rows[0].bytes} bytes`);
    while ((await expireOverdueSessions(expiring.db, 500, DEPS)) > 0);
    await expiring.untilExpired(ids);
  });

  it('are expired by a worker with little memory, which stays alive and does its other work', async () => {
    const { db, databaseUrl, shop } = expiring;
    const ids = await buildHeavyOverdue(db, shop.accountId, MANY);
    const other = await buildMerchant(db);
    const environment = { DATABASE_URL: databaseUrl, FACILITATOR_URL: 'http://127.0.0.1:1' };
    const { encryptionKeys } = loadConfig(environment, 'worker');
    await buildEndpoints(db, other.accountId, 1, {
      url: receiver.url,
      sealedSecret: createSecretBox(encryptionKeys).seal('whsec_c2VjcmV0'),
    });
    const light = await buildSession(db, other.accountId, overdueBy(1));
    const worker = await startWorkerProcess({
      ...environment,
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      NODE_OPTIONS: SMALL_HEAP,
    });
    const crashed = worker.exited.then(() =>
      assert.fail(`the worker crashed: ${worker.errors().slice(0, 500)}`),
    );
    crashed.catch(() => undefined);
    await Promise.race([expiring.untilExpired([...ids, light.id]), crashed]);
    await Promise.race([eventually(() => assert.equal(receiver.got.length, 1)), crashed]);
    assert.deepEqual(
      worker.lines().filter(({ event }) => event === 'job.failed' || event === 'sweep.failed'),
      [],
    );
    await worker.kill();
  });
});
