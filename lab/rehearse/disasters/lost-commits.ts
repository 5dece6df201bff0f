import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { now } from '../../../shared/process/clock.js';
import { runNode } from '../../world/processes/processes.js';
import { ask } from '../deployment/ask.js';
import type { Deployment } from '../deployment/deployment.js';
import type { Trade } from '../trade/trade.js';
import type { Disaster } from './disaster.js';
import { restartWith } from './restart-with.js';

const SALES = 3;
const LOOK_EVERY_MS = 100;
/** PgBouncer refuses logins for some seconds after its server was away. */
const SERVES_WITHIN_MS = 60_000;

/** The last disasters, since sessions are gone after them and the service doubts Postgres for half an hour. */
export function lossOfCommits(trade: Trade): Disaster[] {
  let moved = 0;
  let backedUpAt = '';
  return [
    {
      name: 'Postgres lost commits',
      signs: [{ line: 'database.lost_commits' }, { alert: 'CheckoutLostCommits' }],
      unnoticed: false,
      isOverAtOnce: false,
      isLong: true,
      async strike(deployment) {
        const { postgres, facilitator } = deployment;
        await postgres.backUp();
        backedUpAt = now().toISOString();
        moved = facilitator.ledger.length;
        for (let sale = 0; sale < SALES; sale += 1) await trade.sell();
        await untilRemembered(deployment);
        await postgres.restore();
        return async () => undefined;
      },
    },
    {
      name: 'the books differ',
      signs: [{ line: 'reconcile.unrecorded' }, { alert: 'CheckoutBooksDiffer' }],
      unnoticed: false,
      isOverAtOnce: false,
      isLong: true,
      async strike(deployment) {
        await untilAllAnswer(deployment);
        await restartWith(deployment.workers, { RECONCILE_EVERY_HOURS: '1' });
        return async () => undefined;
      },
      async answer(deployment) {
        const lost = deployment.facilitator.ledger.slice(moved).map(({ transaction }) => transaction);
        const found = await findUnrecorded(deployment, backedUpAt);
        const missed = lost.filter((transaction) => !found.includes(transaction));
        return missed.map((transaction) => `reconcile did not find the transfer ${transaction}`);
      },
    },
  ];
}

/** Resolves when each web process says that it takes writes. */
async function untilAllAnswer({ webs }: Deployment): Promise<void> {
  const endsAt = performance.now() + SERVES_WITHIN_MS;
  const answers = (): Promise<boolean[]> =>
    Promise.all(webs.map(async ({ port }) => (await ask(`http://127.0.0.1:${port}/readyz`)).ok));
  while ((await answers()).includes(false)) {
    if (performance.now() > endsAt) throw new Error('no process was ready after the restore');
    await sleep(LOOK_EVERY_MS);
  }
}

/** Resolves when a process has read that Postgres has written the last sale. */
async function untilRemembered({ postgres, redis }: Deployment): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query(`SELECT pg_current_wal_flush_lsn() - '0/0' AS flushed`);
  await client.end();
  for (;;) {
    const [key] = await redis.keys('*:position');
    if (key !== undefined && Number(await redis.hget(key, 'flushed')) >= Number(rows[0].flushed)) return;
    await sleep(LOOK_EVERY_MS);
  }
}

/** The transactions that `reconcile` lists as in no book. */
async function findUnrecorded({ environment }: Deployment, since: string): Promise<string[]> {
  const args = ['local/commands/merchants.mjs', 'reconcile', '--since', since, '--json'];
  const { stdout } = await runNode(args, { environment });
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): { status?: string; transaction?: string } => JSON.parse(line))
    .flatMap(({ status, transaction }) => (status === 'unrecorded' ? [transaction ?? ''] : []));
}
