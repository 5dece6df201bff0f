import { setTimeout as sleep } from 'node:timers/promises';
import { copyRow } from './copy-row.js';
import { create, type HeavyOperation, post } from './heavy-operation.js';
import type { WeightSystem } from './system.js';

const HANGING_ENDPOINTS = 100;
const HOSTILE_ENDPOINTS = 200;
const ENDPOINTS = 1000;
const EVENTS_TO_EACH = 20;
const OVERDUE = 300;
const PENDING = 90_000;
const PAUSE_MS = 100;
const AT_ONE_ROW = 150;
const ENDPOINTS_PATH = '/v1/webhook_endpoints';

/** The heavy account's endpoints, and an event of its, by their ids. */
const endpoints: string[] = [];
let event = '';

/** Loads of rows that few requests write, and of the deliveries that come of them. */
export const ROWS: readonly HeavyOperation[] = [
  {
    name: `${HANGING_ENDPOINTS} endpoints that hang`,
    connections: 1,
    units: ['RECEIVER_HEADERS_WITHIN_MS', 'MAX_WEBHOOK_BYTES_IN_FLIGHT'],
    prepare: (system) => addEndpoints(system, system.deadReceiver.url, HANGING_ENDPOINTS),
    begin: expireSome,
    once: async () => undefined,
  },
  {
    name: `${HOSTILE_ENDPOINTS} hostile TLS endpoints`,
    connections: 1,
    units: [
      'MAX_INTERIM_ANSWERS',
      'MAX_ANSWER_HEAD_LINES',
      'MAX_ANSWER_HEAD_BYTES',
      'MAX_RECEIVER_ANSWER_PIECES',
      'MAX_RECEIVER_ANSWER_BYTES',
      'RECEIVER_BODY_WITHIN_MS',
    ],
    prepare: (system) => addEndpoints(system, system.hostileHosts.url, HOSTILE_ENDPOINTS),
    begin: expireSome,
    once: async () => undefined,
  },
  {
    name: `${OVERDUE} full sessions overdue at once`,
    connections: 1,
    units: ['MAX_EXPIRED_BATCH_BYTES', 'MAX_EXPIRED_BATCH_DELIVERIES'],
    begin: makeOverdue,
    once: async () => undefined,
  },
  {
    name: 'lists of events',
    connections: 8,
    units: ['HEAVY_ANSWERS'],
    once: ({ heavy }, n) => heavy.client.send('/v1/events?limit=100', { slowly: n % 2 === 1 }),
  },
  {
    name: `${AT_ONE_ROW} changes of one row`,
    connections: AT_ONE_ROW,
    units: ['POOL_SHARES', 'POOL_WAITING', 'POOL_WAITING_OF_ACCOUNT'],
    prepare: (system) => addEndpoints(system, system.deadReceiver.url, 1),
    once: ({ heavy }, n) => change(heavy, 0, { description: `Change ${n}` }),
  },
  {
    name: `events sent again to ${ENDPOINTS} endpoints`,
    connections: 10,
    units: ['RATE_LIMIT_API_PER_SECOND', 'MAX_ENDPOINTS_PER_MODE'],
    async prepare(system) {
      await addEndpoints(system, system.deadReceiver.url, ENDPOINTS - endpoints.length);
      event = await makeEvent(system);
    },
    once: ({ heavy }) => post(heavy.client, `/v1/events/${event}/resend`, '{}'),
  },
  {
    name: `an endpoint with ${PENDING} deliveries`,
    connections: 2,
    units: ['MAX_PENDING_DELIVERIES'],
    prepare: addPending,
    once: ({ heavy }, n) => change(heavy, 0, { disabled: n % 2 === 0 }),
  },
];

function change({ client }: WeightSystem['heavy'], endpoint: number, changes: object) {
  return post(client, `${ENDPOINTS_PATH}/${endpoints[endpoint]}`, JSON.stringify(changes));
}

/** The first is created over the API; the others are copies of its row with other addresses. */
async function addEndpoints({ db, heavy }: WeightSystem, url: string, count: number): Promise<void> {
  const body = JSON.stringify({ url: `${url}/${endpoints.length}`, enabled_events: ['*'] });
  const first = await create(heavy.client, ENDPOINTS_PATH, body);
  const differing = { url: `url || '-' || n` };
  endpoints.push(
    first,
    ...(await copyRow(db, first, { table: 'webhook_endpoints', count: count - 1, differing })),
  );
}

/** Endpoints that are added later do not get the event by themselves. */
async function makeEvent({ db, heavy }: WeightSystem): Promise<string> {
  await db.query(EXPIRE_SOME, [heavy.accountId, 1]);
  for (;;) {
    const { status, text } = await heavy.client.send('/v1/events?limit=1');
    const [made] = status === 200 ? JSON.parse(text).data : [];
    if (made !== undefined) return made.id;
    await sleep(PAUSE_MS);
  }
}

async function expireSome({ db, heavy }: WeightSystem): Promise<void> {
  await db.query(EXPIRE_SOME, [heavy.accountId, EVENTS_TO_EACH]);
}

async function addPending(system: WeightSystem): Promise<void> {
  if (endpoints.length === 0) await addEndpoints(system, system.deadReceiver.url, 1);
  event ||= await makeEvent(system);
  await system.db.query(ADD_PENDING, [event, endpoints[0], PENDING]);
}

async function makeOverdue({ db, heavy }: WeightSystem): Promise<void> {
  const { rows } = await db.query<{ id: string }>(NEWEST_OPEN, [heavy.accountId]);
  await copyRow(db, rows[0]?.id ?? '', {
    table: 'checkout_sessions',
    count: OVERDUE,
    differing: { expires_at: 'now()' },
  });
}

const EXPIRE_SOME = `
  UPDATE checkout_sessions SET expires_at = now() WHERE id IN (
    SELECT id FROM checkout_sessions WHERE account_id = $1 AND expires_at > now() ORDER BY id LIMIT $2)`;

const NEWEST_OPEN = `
  SELECT id FROM checkout_sessions WHERE account_id = $1 AND status = 'open' ORDER BY id DESC LIMIT 1`;

/** Without a check of the foreign keys of each row, which takes four times as long as the rows. */
const ADD_PENDING = `
  INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, due_at)
  SELECT 'wd_' || right($1, 12) || lpad(n::text, 16, '0'), $1, $2, 'pending', now() + interval '1 hour'
  FROM set_config('session_replication_role', 'replica', true), generate_series(1, $3::int) n`;
