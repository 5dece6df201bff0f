import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '../../lab/world/processes/eventually.js';
import { startWebProcess, type WebServiceProcess } from '../../lab/world/processes/processes.js';
import { buildMerchant, buildSession, type Merchant } from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { Event, WebhookEndpoint } from '../../shared/webhooks/model.js';
import { ENDPOINTS, minimal, SESSIONS } from './orders.js';
import { createMigratedDatabase, testServices } from './suite.js';

/**
 * Web processes with their own database, to be killed and stopped at chosen instants: a deferred trigger waits at
 * COMMIT for an advisory lock that the test holds.
 */
export interface WebProcesses {
  db: Knex;
  shop: Merchant;
  environment: Record<string, string>;
  start(changes?: Record<string, string>): Promise<WebServiceProcess>;
  send(port: number, method: 'GET' | 'POST', target: string, parts?: RequestParts): Promise<Answer>;
  post(port: number, effect: Effect): Promise<Answer>;
  /** Makes every commit of an insert wait until `release`. */
  holdCommits(): Promise<HeldCommits>;
  /** Prepares one request of each kind. */
  prepareEffects(): Promise<Effect[]>;
  close(): Promise<void>;
}

interface RequestParts {
  body?: object;
  key?: string;
  agent?: Agent | false;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

interface HeldCommits {
  /** The backends of the waiting commits, once there are this many. */
  waiting(count: number): Promise<number[]>;
  release(): Promise<void>;
}

/** A request and the count of its effects, which must end as exactly one. */
export interface Effect {
  target: string;
  body?: object;
  key: string;
  count(): Promise<number>;
}

/** The error of a request whose process was killed. */
export const BROKEN = /socket hang up|ECONNRESET/;

const COMMIT_LOCK = 20_261_101;
let keys = 0;

export const newKey = (): string => `key-${keys++}`;

export async function openWebProcesses(name: string): Promise<WebProcesses> {
  const url = await createMigratedDatabase(name);
  const db = openDatabase(loadConfig({ DATABASE_URL: url }, 'migrate').database);
  const shop = await buildMerchant(db);
  const environment = {
    DATABASE_URL: url,
    REDIS_URL: testServices().redisUrl,
    FACILITATOR_URL: 'http://127.0.0.1:1',
    BASE_URL: 'https://pay.example',
    RATE_LIMIT_LINK_PER_MINUTE: '1000000',
    CHECK_TOKEN_ACCOUNTS: 'false',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
  };
  await waitAtCommit(db);
  const processes: WebProcesses = {
    db,
    shop,
    environment,
    start: (changes = {}) => startWebProcess({ ...environment, ...changes }),
    send: (port, method, target, parts = {}) => send(shop.testKey, port, method, target, parts),
    post: (port, { target, ...parts }) => processes.send(port, 'POST', target, parts),
    holdCommits: () => holdCommits(db),
    prepareEffects: () => prepareEffects(db, shop.accountId),
    close: () => db.destroy(),
  };
  return processes;
}

export const counts = (effects: Effect[]): Promise<number[]> =>
  Promise.all(effects.map(({ count }) => count()));

/** Waits until the backends of a killed process have ended. */
export async function untilGone(db: Knex, pids: number[]): Promise<void> {
  await eventually(async () => {
    const { rows } = await db.raw('SELECT 1 FROM pg_stat_activity WHERE pid = ANY(?)', [pids]);
    assert.equal(rows.length, 0, 'backends of the killed process are still running');
  });
}

/** Waits until connections to the port are refused. */
export async function untilRefused(port: number): Promise<void> {
  await eventually(async () => {
    const socket = connect(port, '127.0.0.1');
    const outcome = await Promise.race([
      once(socket, 'connect').then(() => 'connected'),
      once(socket, 'error').then(() => 'refused'),
    ]).catch(() => 'refused');
    socket.destroy();
    assert.equal(outcome, 'refused');
  });
}

async function waitAtCommit(db: Knex): Promise<void> {
  await db.raw(`
    CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN
      -- Requests wait for a lock only for a short time.
      PERFORM set_config('lock_timeout', '0', true);
      PERFORM pg_advisory_xact_lock_shared(${COMMIT_LOCK});
      RETURN NULL;
    END $$`);
  for (const table of ['payables', 'events', 'webhook_endpoints']) {
    await db.raw(`
      CREATE CONSTRAINT TRIGGER wait_at_commit AFTER INSERT ON ${table}
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_commit()`);
  }
}

async function holdCommits(db: Knex): Promise<HeldCommits> {
  const trx = await db.transaction();
  await trx.raw('SELECT pg_advisory_xact_lock(?)', [COMMIT_LOCK]);
  return {
    waiting: (count) =>
      eventually(async () => {
        const { rows } = await db.raw(
          `SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
           WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted`,
        );
        assert.equal(rows.length, count, 'the commits do not wait yet');
        return rows.map(({ pid }: { pid: number }) => pid);
      }),
    async release() {
      await trx.commit();
    },
  };
}

async function prepareEffects(db: Knex, accountId: string): Promise<Effect[]> {
  const reference = newKey();
  const url = `https://shop.example/hooks/${reference}`;
  const { id } = await buildSession(db, accountId);
  return [
    {
      target: SESSIONS,
      body: { ...minimal, client_reference_id: reference },
      key: newKey(),
      count: () => CheckoutSession.query(db).where({ clientReferenceId: reference }).resultSize(),
    },
    {
      target: ENDPOINTS,
      body: { url },
      key: newKey(),
      count: () => WebhookEndpoint.query(db).where({ url }).resultSize(),
    },
    {
      target: `${SESSIONS}/${id}/expire`,
      key: newKey(),
      count: () => Event.query(db).where({ payableId: id }).resultSize(),
    },
  ];
}

async function send(
  secret: string,
  port: number,
  method: 'GET' | 'POST',
  target: string,
  { body, key, agent = false }: RequestParts,
): Promise<Answer> {
  const content = body === undefined ? '' : JSON.stringify(body);
  const outgoing = request({
    host: '127.0.0.1',
    port,
    method,
    path: target,
    agent,
    headers: {
      Authorization: `Bearer ${secret}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
      'Content-Length': Buffer.byteLength(content),
    },
  });
  outgoing.end(content);
  const [answer] = await once(outgoing, 'response');
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) };
}
