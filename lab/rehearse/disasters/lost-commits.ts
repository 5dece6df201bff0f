import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { now } from '../../../shared/process/clock.js';
import { runNode } from '../../world/processes/processes.js';
import type { Deployment } from '../deployment/deployment.js';
import type { Trade } from '../trade/trade.js';
import { hear } from './hear.js';

const SALES = 3;
const LOOK_EVERY_MS = 100;
const NAME = 'Postgres lost commits';

/**
 * Restores a base backup after further sales, and has `reconcile` find their money. The last disaster, since its sessions are
 * gone and the service doubts Postgres for half an hour.
 */
export async function loseCommits(
  deployment: Deployment,
  trade: Trade,
): Promise<{ report: string; failures: string[] }> {
  const { postgres, facilitator } = deployment;
  await postgres.backUp();
  const backedUpAt = now().toISOString();
  const moved = facilitator.ledger.length;
  for (let sale = 0; sale < SALES; sale += 1) await trade.sell();
  await untilRemembered(deployment);
  const { report, failures } = await hear(
    {
      name: NAME,
      signs: [{ line: 'database.lost_commits' }, { alert: 'CheckoutLostCommits' }],
      unnoticed: false,
      isOverAtOnce: false,
      async strike() {
        await postgres.restore();
        return async () => undefined;
      },
    },
    deployment,
  );
  const lost = facilitator.ledger.slice(moved).map(({ transaction }) => transaction);
  const found = await findUnrecorded(deployment, backedUpAt);
  const missed = lost.filter((transaction) => !found.includes(transaction));
  if (missed.length > 0) failures.push(`${NAME}: reconcile did not find the transfer ${missed[0]}`);
  return { report: `${report}; reconcile found ${found.length} of ${lost.length} lost payments`, failures };
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
