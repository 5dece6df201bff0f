import { JOB_NAMES } from '../../../shared/jobs/jobs.js';
import { createSecretBox } from '../../../shared/secrets/secrets.js';
import { breaksAfterWork } from '../../world/facilitator/dial.js';
import { ask } from '../deployment/ask.js';
import { addEndpoint, type Deployment } from '../deployment/deployment.js';
import { ORDER } from '../trade/trade.js';
import type { Disaster } from './disaster.js';
import { restartWith } from './restart-with.js';

const PAUSED = 'settle-payment';
const UNSERVED = 'deliver-webhook';
const SILENT = { works: false, connection: 'reset' } as const;
/** Delays that are together longer than CheckoutBuyersWait allows, and each shorter than its timeout. */
const SLOW_VERIFY_MS = 7000;
const SLOW_SETTLE_MS = 4500;
const CREATE_EVERY_MS = 500;
/** Tables that a sale and the write probe of `/readyz` fill. */
const FILLED = ['payables', 'payments', 'write_probes'];

export const DISASTERS: readonly Disaster[] = [
  {
    name: 'Redis takes no writes',
    signs: [{ readyz: 'not_writable' }, { line: 'queue.job_not_added' }, { alert: 'CheckoutQueueStoreAway' }],
    unnoticed: true,
    async strike({ redis }) {
      await redis.config('SET', 'maxmemory-policy', 'noeviction');
      await redis.config('SET', 'maxmemory', '1');
      return async () => void (await redis.config('SET', 'maxmemory', '0'));
    },
  },
  {
    name: 'a queue is paused',
    signs: [{ alert: 'CheckoutQueuePaused' }],
    unnoticed: true,
    async strike(deployment) {
      await changeQueue(deployment, 'pause');
      return () => changeQueue(deployment, 'resume');
    },
  },
  {
    name: 'a queue has no worker',
    signs: [{ alert: 'CheckoutQueueUnserved' }],
    unnoticed: true,
    isLong: true,
    async strike({ workers }) {
      await restartWith(workers, {
        WORKER_QUEUES: JOB_NAMES.filter((name) => name !== UNSERVED).join(),
      });
      return () => restartWith(workers, {});
    },
  },
  {
    name: 'Postgres is read-only',
    signs: [
      { readyz: 'read_only' },
      { line: 'database.away' },
      { alert: 'CheckoutNotReady' },
      { alert: 'CheckoutDatabaseAway' },
    ],
    unnoticed: false,
    async strike(deployment) {
      const { runSql } = deployment;
      const stop = keepCreating(deployment);
      await runSql('ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()');
      return async () => {
        stop();
        await runSql(
          'SET default_transaction_read_only = off',
          'ALTER SYSTEM RESET default_transaction_read_only',
          'SELECT pg_reload_conf()',
        );
      };
    },
  },
  {
    name: 'Postgres is full',
    signs: [
      { readyz: 'full' },
      { line: 'database.away' },
      { alert: 'CheckoutNotReady' },
      { alert: 'CheckoutDatabaseAway' },
    ],
    unnoticed: false,
    isLong: true,
    async strike(deployment) {
      const { runSql } = deployment;
      const stop = keepCreating(deployment);
      await runSql(
        `CREATE FUNCTION raise_disk_full() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`,
        ...FILLED.map(
          (table) =>
            `CREATE TRIGGER raise_disk_full BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION raise_disk_full()`,
        ),
      );
      return async () => {
        stop();
        await runSql('DROP FUNCTION raise_disk_full CASCADE');
      };
    },
  },
  {
    name: 'the standby is away',
    signs: [{ line: 'replica.left_out' }, { alert: 'CheckoutReplicaLeftOut' }],
    unnoticed: true,
    isLong: true,
    async strike({ postgres }) {
      await postgres.stopStandby();
      return () => postgres.startStandby();
    },
  },
  {
    name: 'the disk is nearly full',
    signs: [{ alert: 'CheckoutDiskNearlyFull' }],
    unnoticed: true,
    isLong: true,
    async strike({ workers }) {
      await restartWith(workers, { DATABASE_DISK_BYTES: '1' });
      return () => restartWith(workers, {});
    },
  },
  {
    name: 'a secret cannot be opened',
    signs: [{ line: 'webhook_secret.unreadable' }, { alert: 'CheckoutSecretUnreadable' }],
    unnoticed: true,
    isLong: true,
    async strike({ url, key, receiver, runSql }) {
      const id = await addEndpoint(url, key, `${receiver.url}/second`);
      const sealed = createSecretBox([Buffer.alloc(32, 1)]).seal('whsec_unknown');
      await runSql(
        `CREATE TABLE kept_secret AS SELECT id, sealed_secret FROM webhook_endpoints WHERE id = '${id}'`,
        `UPDATE webhook_endpoints SET sealed_secret = '${sealed}' WHERE id = '${id}'`,
      );
      return () =>
        runSql(
          'UPDATE webhook_endpoints one SET sealed_secret = kept.sealed_secret FROM kept_secret kept WHERE kept.id = one.id',
          'DROP TABLE kept_secret',
        );
    },
  },
  {
    name: 'the facilitator does not answer',
    signs: [{ line: 'facilitator.unavailable' }, { alert: 'CheckoutLinksUnpayable' }],
    unnoticed: false,
    isLong: true,
    async strike({ facilitator: { supported, verify, settle } }) {
      const dials = [supported, verify, settle];
      for (const dial of dials) dial.always(SILENT);
      return async () => {
        for (const dial of dials) dial.honest();
      };
    },
  },
  {
    name: 'a chain cannot be read',
    signs: [{ alert: 'CheckoutChainUnreadable' }],
    unnoticed: false,
    isLong: true,
    async strike({ facilitator: { settle }, chain }) {
      chain.fail('http_500');
      settle.always(breaksAfterWork());
      return async () => {
        settle.honest();
        chain.recover();
      };
    },
  },
  {
    name: 'the facilitator is slow',
    signs: [{ alert: 'CheckoutBuyersWait' }],
    unnoticed: true,
    isLong: true,
    async strike({ facilitator: { verify, settle } }) {
      verify.always({ delayMs: SLOW_VERIFY_MS });
      settle.always({ delayMs: SLOW_SETTLE_MS });
      return async () => {
        verify.honest();
        settle.honest();
      };
    },
  },
];

/** Sends creations to the web processes directly: the balancer routes none to a process that is not ready. */
function keepCreating({ webs, key }: Deployment): () => void {
  const timer = setInterval(() => {
    for (const { port } of webs) {
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
      const url = `http://127.0.0.1:${port}/v1/checkout/sessions`;
      fetch(url, { method: 'POST', headers, body: ORDER }).catch(() => undefined);
    }
  }, CREATE_EVERY_MS);
  return () => clearInterval(timer);
}

/** Pauses or resumes a queue by the request that `/admin/queues` sends for an operator. */
async function changeQueue({ url, adminPassword }: Deployment, change: 'pause' | 'resume'): Promise<void> {
  const authorization = `Basic ${Buffer.from(`admin:${adminPassword}`).toString('base64')}`;
  const { status } = await ask(`${url}/admin/queues/api/queues/${PAUSED}/${change}`, {
    method: 'PUT',
    headers: { Authorization: authorization, 'Content-Type': 'application/json' },
    body: '{}',
  });
  if (status !== 200) throw new Error(`the queue did not ${change}: ${status}`);
}
