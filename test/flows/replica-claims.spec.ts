import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../lab/world/processes/eventually.js';
import { startPair } from '../../lab/world/processes/standby.js';
import { buildMerchant, buildSession } from '../../lab/world/shop/factories.js';
import { loadConfig } from '../../shared/config/config.js';
import { openReplica, type Replica } from '../../shared/db/replica.js';
import { claimSession } from '../../shared/settlement/claim.js';
import { forAllTests } from '../support/hooks.js';
import { loggerWithLines } from '../support/log-lines.js';
import { EVENT_DEPS } from '../support/money-flow.js';
import { newPayment } from '../support/new-payment.js';

describe('a claim that is committed and not yet on disk', () => {
  const pair = forAllTests(startPair);
  let replica: Replica;
  before(async () => {
    const { database } = loadConfig({ DATABASE_URL: pair.standby.url }, 'migrate');
    const times = { checkEveryMs: 10, maxLagMs: 60_000, timeoutMs: 3000 };
    replica = openReplica(pair.primary.db, database, loggerWithLines().logger, times);
  });
  after(async () => {
    await replica.close();
  });

  it('is not covered by the time up to which a read replica is known to be current', async () => {
    const { accountId } = await buildMerchant(pair.primary.db);
    const { id } = await buildSession(pair.primary.db, accountId);
    await eventually(() => assert.ok(replica.shownUntil()));
    const { rows } = await pair.primary.db.raw(
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'",
    );
    const { pid } = rows[0] ?? assert.fail('there is no WAL writer');
    process.kill(pid, 'SIGSTOP');
    try {
      assert.equal((await claimSession(pair.primary.db, newPayment(id), EVENT_DEPS)).kind, 'claimed');
      const claimed = await pair.primary.db.raw('SELECT clock_timestamp() AS at');
      const isCovered = (): boolean =>
        new Date(replica.shownUntil() ?? 0).getTime() > claimed.rows[0].at.getTime();
      const shows = async (): Promise<boolean> =>
        (await pair.standby.db('payables').where({ id, status: 'processing' })).length === 1;
      for (let check = 0; check < 20; check += 1) {
        await sleep(20);
        if (isCovered()) assert.ok(await shows());
      }
      process.kill(pid, 'SIGCONT');
      await eventually(() => assert.ok(isCovered()));
      assert.ok(await shows());
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });
});
