import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { startWeb, type WebProcess } from '../../../api/process/start-web.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { loadConfig } from '../../../shared/config/config.js';
import { openDatabase } from '../../../shared/db/knex.js';
import { paymentJob } from '../../../shared/settlement/payment-job.js';
import { installationNamer } from '../../../shared/upkeep/installation.js';
import { PAID } from '../../support/checkout.js';
import { answerOf } from '../../support/link-answers.js';
import { type LoggerWithLines, loggerWithLines } from '../../support/log-lines.js';
import { type MoneyFlow, openMoneyFlow } from '../../support/money-flow.js';
import { testServices } from '../../support/suite.js';

const TOKEN = 'metrics-token-of-a-spec';

for (const kind of ['of their own', 'that are copies of each other'] as const) {
  describe(`two deployments on one Redis, with databases ${kind}`, () => {
    let waiting: MoneyFlow;
    let other: MoneyFlow;
    let redis: Redis;
    before(async () => {
      const suffix = kind.split(' ').at(-1);
      waiting = await openMoneyFlow(`waiting_${suffix}`, {
        worker: false,
        environment: { SETTLE_WAIT_MS: '0' },
        async around(databaseUrl) {
          if (kind === 'of their own') await giveOwnId(databaseUrl);
          return {};
        },
      });
      other = await openMoneyFlow(`other_${suffix}`);
      redis = new Redis(testServices().redisUrl);
    });
    after(async () => {
      redis.disconnect();
      await other.close();
      await waiting.close();
    });

    it('leave the jobs of the other one in the queue', async () => {
      const { id } = await waiting.buildSession();
      assert.equal(answerOf(await waiting.pay(id)), '202 processing');
      const { id: paymentId, claimedAt } = await waiting.onlyPayment(id);
      const job = paymentJob({ id: paymentId, stage: 'settle', attempt: 0, dueAt: claimedAt });
      const key = `checkout:${await installationNamer(waiting.db)()}:settle-payment:${job.id}`;
      await eventually(async () => assert.equal(await redis.exists(key), 1));

      // The other deployment's worker takes jobs in their order, so it has passed a job that it sees.
      for (let n = 0; n < 3; n += 1) {
        const { id: paid } = await other.buildSession();
        assert.equal(answerOf(await other.pay(paid)), '200 complete');
      }
      assert.equal(await redis.exists(key), 1, 'another deployment took the job');
      await waiting.startWorker();
      await waiting.becomes(id, PAID);
      await eventually(async () => assert.equal(await redis.exists(key), 0));
    });

    it('report each other in the log, in /readyz and in the metrics, while both run', async () => {
      const logged: LoggerWithLines<{ event: string }>[] = [];
      const start = async ({ databaseUrl }: MoneyFlow): Promise<WebProcess> => {
        const { logger, lines } = loggerWithLines<{ event: string }>();
        logged.push({ logger, lines });
        const settings = {
          DATABASE_URL: databaseUrl,
          REDIS_URL: testServices().redisUrl,
          FACILITATOR_URL: 'http://127.0.0.1:1',
          METRICS_TOKEN: TOKEN,
          PORT: '0',
        };
        return await startWeb(loadConfig(settings, 'web'), logger);
      };
      const [one, two] = [await start(waiting), await start(other)];
      try {
        for (const { lines } of logged)
          await eventually(() => assert.ok(lines.some(({ event }) => event === 'redis.shared')));
        for (const { port } of [one, two]) {
          const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
          const { status, redis: said } = JSON.parse(await ready.text());
          assert.deepEqual([ready.status, status, said], [200, 'ready', 'shared']);
          const headers = { Authorization: `Bearer ${TOKEN}` };
          const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text();
          assert.match(metrics, /^checkout_redis_other_databases 1$/m);
        }
      } finally {
        await one.close();
        await two.close();
      }
      for (const { lines } of logged)
        assert.equal(lines.filter(({ event }) => event === 'redis.shared').length, 1, 'one line');
    });
  });
}

async function giveOwnId(databaseUrl: string): Promise<void> {
  const db = openDatabase(loadConfig({ DATABASE_URL: databaseUrl }, 'cli').database);
  await db.raw('UPDATE installation SET id = gen_random_uuid()');
  await db.destroy();
}
