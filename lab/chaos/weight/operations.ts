import { gzipSync } from 'node:zlib';
import type { Client, Reply } from './client.js';
import { FLOODS } from './floods.js';
import { fullSession, hostileHosts, REFUSED } from './heaviest.js';
import { type HeavyOperation, JSON_TYPE, post } from './heavy-operation.js';
import type { ImageHosts } from './image-hosts.js';
import { LINKS } from './links.js';
import { ROWS } from './rows.js';
import { fullBody, onlyOnce, pick, SESSIONS } from './shop.js';
import type { WeightSystem } from './system.js';

const GZIP = { ...JSON_TYPE, 'Content-Encoding': 'gzip' };
const MIB = 1024 * 1024;

const HOSTILE_BODY = JSON.stringify(hostileHosts(680));
const COMPRESSED_BODY = gzipSync(Buffer.alloc(4 * MIB, ' '));
const fullCall = onlyOnce((images: ImageHosts) => rpc('create_checkout_session', fullSession(images.at)));

/** Loads of an ordinary test key. */
const OF_ACCOUNT: readonly HeavyOperation[] = [
  {
    name: 'creates of full size',
    connections: 10,
    units: [
      'MAX_BODY_BYTES',
      'LARGE_BODIES_BYTES',
      'LARGE_BODIES_BYTES_PER_ACCOUNT',
      'LARGE_BODY_IN_FLIGHT_MS',
      'MAX_WRITTEN_BATCH_BYTES',
    ],
    once: ({ heavy, images }) => post(heavy.client, SESSIONS, fullBody(images)),
  },
  {
    name: 'hosts that are slow to parse',
    connections: 10,
    units: ['MAX_HOST_LENGTH'],
    once: ({ heavy }) => post(heavy.client, SESSIONS, HOSTILE_BODY),
  },
  {
    name: 'compressed bodies',
    connections: 20,
    units: [],
    once: ({ heavy }) => post(heavy.client, SESSIONS, COMPRESSED_BODY, GZIP),
  },
  ...Object.entries(REFUSED).map(([name, { type, text }]) => ({
    name: `bodies: ${name}`,
    connections: 10,
    units: ['MAX_BODY_VALUES', 'MAX_BODY_DEPTH'],
    once: ({ heavy }: WeightSystem) => post(heavy.client, SESSIONS, text, { 'Content-Type': type }),
  })),
  {
    name: 'the same bodies to the MCP tools',
    connections: 10,
    units: ['MAX_MESSAGE_VALUES'],
    once: ({ heavy }, n) => callTool(heavy.client, Object.values(REFUSED)[n % 4]?.text ?? ''),
  },
  {
    name: 'creates of full size by an MCP tool',
    connections: 10,
    units: ['TOOL_ANSWER_BYTES'],
    once: ({ heavy, images }) => callTool(heavy.client, fullCall(images)),
  },
  {
    name: 'lists of full sessions',
    connections: 8,
    units: ['HEAVY_ANSWERS', 'PIECE_TAKEN_WITHIN_MS'],
    once: ({ heavy }, n) =>
      heavy.client.send(`${SESSIONS}?limit=100&expand[]=data.line_items`, { slowly: n % 2 === 1 }),
  },
  {
    name: 'full sessions, one by one',
    connections: 10,
    units: ['HEAVY_ANSWERS'],
    once: ({ heavy }, n) => heavy.client.send(`${SESSIONS}/${pick(n)}?expand[]=line_items`),
  },
];

export const OPERATIONS: readonly HeavyOperation[] = [...OF_ACCOUNT, ...LINKS, ...FLOODS, ...ROWS];

function callTool(client: Client, body: string): Promise<Reply> {
  return post(client, '/mcp', body, { ...JSON_TYPE, Accept: 'application/json, text/event-stream' });
}

function rpc(name: string, args: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
}
