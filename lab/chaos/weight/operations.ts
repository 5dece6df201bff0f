import { gzipSync } from 'node:zlib';
import type { Client, Reply } from './client.js';
import { fullSession, hostileHosts, REFUSED } from './heaviest.js';
import type { ImageHosts } from './image-hosts.js';
import type { WeightSystem } from './system.js';

/** One heavy operation within all limits: `connections` callers repeat it. */
export interface HeavyOperation {
  name: string;
  connections: number;
  /** Runs once, before the operation begins. */
  prepare?(system: WeightSystem): Promise<void>;
  /** Undefined when there is no answer to count. */
  once(system: WeightSystem, n: number): Promise<Reply | undefined>;
}

const SESSIONS = '/v1/checkout/sessions';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const GZIP = { ...JSON_TYPE, 'Content-Encoding': 'gzip' };
const MIB = 1024 * 1024;
const FULL_SESSIONS = 100;
const HANGING_ENDPOINTS = 100;
const EVENTS_TO_HANGING = 20;
const OVERDUE = 300;

// Each body is serialized once: serializing it again would add load that is not the service's.
const HOSTILE_BODY = JSON.stringify(hostileHosts(680));
const COMPRESSED_BODY = gzipSync(Buffer.alloc(4 * MIB, ' '));
const fullBody = onlyOnce((images: ImageHosts) => JSON.stringify(fullSession(images.at)));
const fullCall = onlyOnce((images: ImageHosts) => rpc('create_checkout_session', fullSession(images.at)));

/** The heavy account's sessions of full size, which other operations use. */
const full: string[] = [];

export const OPERATIONS: readonly HeavyOperation[] = [
  {
    name: 'creates of full size',
    connections: 10,
    prepare: (system) => fillShop(system, FULL_SESSIONS),
    once: ({ heavy, images }) => post(heavy.client, SESSIONS, fullBody(images)),
  },
  {
    name: 'hosts that are slow to parse',
    connections: 10,
    once: ({ heavy }) => post(heavy.client, SESSIONS, HOSTILE_BODY),
  },
  {
    name: 'compressed bodies',
    connections: 20,
    once: ({ heavy }) => post(heavy.client, SESSIONS, COMPRESSED_BODY, GZIP),
  },
  ...Object.entries(REFUSED).map(([name, { type, text }]) => ({
    name: `bodies: ${name}`,
    connections: 10,
    once: ({ heavy }: WeightSystem) => post(heavy.client, SESSIONS, text, { 'Content-Type': type }),
  })),
  {
    name: 'the same bodies to the MCP tools',
    connections: 10,
    once: ({ heavy }, n) => callTool(heavy.client, Object.values(REFUSED)[n % 4]?.text ?? ''),
  },
  {
    name: 'creates of full size by an MCP tool',
    connections: 10,
    once: ({ heavy, images }) => callTool(heavy.client, fullCall(images)),
  },
  {
    name: 'lists of full sessions',
    connections: 8,
    once: ({ heavy }, n) =>
      heavy.client.send(`${SESSIONS}?limit=100&expand[]=data.line_items`, { slowly: n % 2 === 1 }),
  },
  {
    name: 'full sessions, one by one',
    connections: 10,
    once: ({ heavy }, n) => heavy.client.send(`${SESSIONS}/${pick(n)}?expand[]=line_items`),
  },
  {
    name: 'links of full sessions',
    connections: 20,
    once: (system, n) => visitor(system, n).send(`/c/${pick(n)}`),
  },
  {
    name: 'pages of full sessions',
    connections: 10,
    once: (system, n) => visitor(system, n).send(`/c/${pick(n)}`, { headers: { Accept: 'text/html' } }),
  },
  {
    name: 'slow images from 70 hosts',
    connections: 200,
    once: (system, n) => visitor(system, n).send(`/c/${pick(n)}/images/${n % 800}`, { slowly: n % 2 === 1 }),
  },
  {
    name: 'transactions to sign',
    connections: 20,
    once: (system, n) =>
      post(visitor(system, n), `/c/${pick(n)}/transaction`, JSON.stringify({ payer: PAYER, asset: MINT })),
  },
  {
    name: 'wrong keys',
    connections: 20,
    once: (system, n) =>
      visitor(system, 0).send(SESSIONS, {
        headers: { Authorization: `Bearer svc_ck_test_${String(n).padStart(32, '0')}` },
      }),
  },
  {
    name: `${HANGING_ENDPOINTS} endpoints that hang`,
    connections: 1,
    prepare: (system) => tellTheDead(system),
    once: async () => undefined,
  },
  {
    name: `${OVERDUE} full sessions overdue at once`,
    connections: 1,
    prepare: (system) => makeOverdue(system),
    once: async () => undefined,
  },
];

const PAYER = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g';
const MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

function post(
  client: Client,
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = JSON_TYPE,
): Promise<Reply> {
  return client.send(path, { method: 'POST', headers, body });
}

function callTool(client: Client, body: string): Promise<Reply> {
  return post(client, '/mcp', body, { ...JSON_TYPE, Accept: 'application/json, text/event-stream' });
}

function rpc(name: string, args: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
}

function onlyOnce<From>(make: (from: From) => string): (from: From) => string {
  let made: string | undefined;
  return (from) => {
    made ??= make(from);
    return made;
  };
}

function pick(n: number): string {
  return full[n % full.length] ?? '';
}

/** An address of one visitor, who has a /64 of them. */
const visitors = new Map<number, Client>();
function visitor(system: WeightSystem, n: number): Client {
  const one = n % VISITORS;
  const known = visitors.get(one) ?? system.visitor(`2001:db8::${one.toString(16)}`);
  visitors.set(one, known);
  return known;
}

const VISITORS = 50;

/** Fills an account's shop within its limits. */
async function fillShop({ heavy, images }: WeightSystem, count: number): Promise<void> {
  const body = fullBody(images);
  while (full.length < count) {
    const { status, text } = await post(heavy.client, SESSIONS, body);
    if (status === 200) full.push(JSON.parse(text).id);
    else if (status !== 429) throw new Error(`a session of full size was refused: ${text.slice(0, 300)}`);
    else await new Promise((done) => setTimeout(done, 200));
  }
}

async function tellTheDead({ db, heavy, deadReceiver }: WeightSystem): Promise<void> {
  for (let n = 0; n < HANGING_ENDPOINTS; n += 1) {
    const body = JSON.stringify({ url: `${deadReceiver.url}/${n}`, enabled_events: ['*'] });
    const { status } = await post(heavy.client, '/v1/webhook_endpoints', body);
    if (status === 429) n -= 1;
  }
  await db.query(EXPIRE_SOME, [heavy.accountId, EVENTS_TO_HANGING]);
}

async function makeOverdue({ db, heavy }: WeightSystem): Promise<void> {
  await db.query(COPY, [heavy.accountId, full[0], OVERDUE]);
}

const EXPIRE_SOME = `
  UPDATE checkout_sessions SET expires_at = now() WHERE id IN (
    SELECT id FROM checkout_sessions WHERE account_id = $1 AND expires_at > now() ORDER BY id LIMIT $2)`;

/**
 * Copies sessions of full size, with their end in the past. `made()` is called once per row: `(made()).*` would call it
 * once per column.
 */
const COPY = `
  INSERT INTO checkout_sessions
  SELECT copy.*
  FROM checkout_sessions session
  CROSS JOIN generate_series(1, $3::int) n
  CROSS JOIN LATERAL jsonb_populate_record(session, jsonb_build_object(
    'id', left(session.id, -6) || lpad(n::text, 6, '0'), 'expires_at', now())) copy
  WHERE session.account_id = $1 AND session.id = $2`;
