import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { createApp } from '../../../api/app.js';
import { createHttpServer } from '../../../api/process/http-server.js';
import { closeDeps, openDeps } from '../../../api/process/open-deps.js';
import { createApiKey } from '../../../shared/accounts/api-keys.js';
import { loadConfig } from '../../../shared/config/config.js';
import type { Knex } from '../../../shared/db/knex.js';
import { createLogger } from '../../../shared/process/logger.js';
import { findOverdueSessions } from '../../../shared/settlement/expire-overdue.js';
import { listDuePayments } from '../../../shared/settlement/take-work.js';
import { newId } from '../../../shared/values/ids.js';
import { findDueAccounts } from '../../../shared/webhooks/find-due.js';
import { BIG_ACCOUNT } from './seed.js';

/** Named requests against one database, to be run one after the other. */
interface Subject {
  acts: Record<string, () => Promise<unknown>>;
  close(): Promise<void>;
}

interface Prepared {
  headers: Record<string, string>;
  known: { session: string; payment: string; open: string; theirs: string; theirEndpoint: string };
}

const order = JSON.stringify({
  line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }],
});

/** Requests of the largest account of the seed, on a web app in this process. Payment links call its facilitator. */
export async function openSubject(settings: {
  databaseUrl: string;
  redisUrl: string | undefined;
  facilitatorUrl: string;
}): Promise<Subject> {
  const config = loadConfig(
    {
      DATABASE_URL: settings.databaseUrl,
      REDIS_URL: settings.redisUrl,
      FACILITATOR_URL: settings.facilitatorUrl,
      RATE_LIMIT_API_PER_SECOND: '1000000',
      RATE_LIMIT_LINK_PER_MINUTE: '10000000',
    },
    'web',
  );
  const deps = openDeps(config, createLogger('silent', 'bench'));
  const server = createHttpServer(createApp(deps));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dispatcher = new Agent({ connections: 1 });
  const prepared = await prepare(deps.db);
  const get = (path: string) => async () => {
    const { statusCode, body } = await request(base + path, { headers: prepared.headers, dispatcher });
    await body.text();
    if (![200, 402, 404].includes(statusCode)) throw new Error(`${path} answered ${statusCode}`);
  };
  const create = async (): Promise<void> => {
    const headers = { ...prepared.headers, 'content-type': 'application/json' };
    const url = `${base}/v1/checkout/sessions`;
    const { statusCode, body } = await request(url, { method: 'POST', headers, body: order, dispatcher });
    await body.text();
    if (statusCode !== 200) throw new Error(`create answered ${statusCode}`);
  };
  const { session, payment, open, theirs, theirEndpoint } = prepared.known;
  const acts: Record<string, () => Promise<unknown>> = {
    create,
    retrieve: get(`/v1/checkout/sessions/${session}`),
    'line items': get(`/v1/checkout/sessions/${session}/line_items`),
    'list sessions': get('/v1/checkout/sessions'),
    'list sessions after one long ago': get(`/v1/checkout/sessions?starting_after=${session}`),
    'list open sessions': get('/v1/checkout/sessions?status=open'),
    'list payments': get('/v1/payments'),
    'list payments after one': get(`/v1/payments?starting_after=${payment}`),
    'link 402': get(`/c/${open}`),
    'link 200': get(`/c/${session}`),
    'session, not yours': get(`/v1/checkout/sessions/${theirs}`),
    'session, not there': get(`/v1/checkout/sessions/${newId('cs_test_')}`),
    'cursor, not yours': get(`/v1/checkout/sessions?starting_after=${theirs}`),
    'cursor, not there': get(`/v1/checkout/sessions?starting_after=${newId('cs_test_')}`),
    'endpoint, not yours': get(`/v1/webhook_endpoints/${theirEndpoint}`),
    'endpoint, not there': get(`/v1/webhook_endpoints/${newId('we_')}`),
    'sweep: payments': () => listDuePayments(deps.db, ['settle', 'confirm', 'watch'], 500),
    'sweep: sessions': () => findOverdueSessions(deps.db),
    'sweep: deliveries': () => findDueAccounts(deps.db, '', 1000),
  };
  return {
    acts,
    async close() {
      await dispatcher.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      deps.settlements.close();
      await closeDeps(deps);
    },
  };
}

async function prepare(db: Knex): Promise<Prepared> {
  const key = await createApiKey(db, { accountId: BIG_ACCOUNT, livemode: false, name: 'Bench' });
  const idOf = async (table: string, status: string): Promise<string> =>
    (await db(table).where({ accountId: BIG_ACCOUNT, livemode: false, status }).orderBy('id').first('id')).id;
  const theirs = async (table: string): Promise<string> =>
    (await db(table).whereNot({ accountId: BIG_ACCOUNT }).orderBy('id').first('id')).id;
  return {
    headers: { authorization: `Bearer ${key.secret}` },
    known: {
      session: await idOf('checkoutSessions', 'complete'),
      payment: await idOf('payments', 'succeeded'),
      open: await idOf('checkoutSessions', 'open'),
      theirs: await theirs('checkoutSessions'),
      theirEndpoint: await theirs('webhookEndpoints'),
    },
  };
}
