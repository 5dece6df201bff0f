import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { nowMs } from '../../../shared/process/clock.js';
import { seededRandom } from '../../world/chance/seeded-random.js';
import { becomeActor } from './actor.js';
import type { Received } from './entries.js';
import { Journal } from './journal.js';

/** The merchant's webhook receiver: verifies and records each delivery, and fails often until recovery. */
const HANG_MS = 12_000;
/** For the steady endpoint, the first attempt of an event may fail; for the others, any attempt. */
const STEADY_FAILING_SHARE = 0.1;
const FAILING_SHARE = 0.3;

const { settings, ready, onOrder } = becomeActor<{ seed: number; journal: string; steady: string }>();
const journal = new Journal<Received>(settings.journal);
const random = seededRandom(settings.seed);
const secrets = new Map<string, string>();
const failedOnce = new Set<string>();
let hasRecovered = false;

interface Session {
  id: string;
  status: string;
  payment: { transaction: string } | null;
}

interface Refund {
  id: string;
  status: string;
  transaction: string | null;
}

interface EventBody {
  id: string;
  type: string;
  created: number;
  data: { object: Session | Refund };
}

const server = createServer(async (request, response) => {
  const endpoint = request.url?.split('/').at(-1) ?? '';
  const body = await text(request);
  const secret = secrets.get(endpoint);
  if (secret === undefined) {
    // The endpoint was just enabled: the merchant has not read its secret yet.
    response.writeHead(503).end();
    return;
  }
  const { id, type, created, data }: EventBody = JSON.parse(body);
  const verified = verify(secret, String(request.headers['service-signature']), body);
  const reaction = verified ? chooseReaction(endpoint, id) : 400;
  const { object } = data;
  const { id: sessionId, status } = object;
  const transaction = 'transaction' in object ? object.transaction : (object.payment?.transaction ?? null);
  journal.write({
    at: nowMs(),
    endpoint,
    verified,
    reaction,
    eventId: id,
    type,
    created,
    sessionId,
    status,
    transaction,
  });
  react(response, reaction);
});

function verify(secret: string, header: string, body: string): boolean {
  const [, time, signature = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (time === undefined || Math.abs(nowMs() / 1000 - Number(time)) > 300) return false;
  const expected = createHmac('sha256', secret).update(`${time}.${body}`).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}

function chooseReaction(endpoint: string, eventId: string): Received['reaction'] {
  const share = endpoint === settings.steady ? STEADY_FAILING_SHARE : FAILING_SHARE;
  const hadItsFailure = endpoint === settings.steady && failedOnce.has(eventId);
  if (hasRecovered || hadItsFailure || random() >= share) return 200;
  failedOnce.add(eventId);
  const draw = random();
  if (draw < 0.1) return 'hang';
  return draw < 0.4 ? 'reset' : draw < 0.7 ? 500 : 302;
}

function react(response: ServerResponse, reaction: Received['reaction']): void {
  if (reaction === 'reset') response.socket?.resetAndDestroy();
  else if (reaction === 'hang') setTimeout(() => response.destroy(), HANG_MS);
  else response.writeHead(reaction, reaction === 302 ? { location: '/elsewhere' } : {}).end();
}

await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const { port } = server.address() as AddressInfo;
onOrder({
  addSecret: ({ endpoint = '', secret = '' }) => secrets.set(endpoint, secret),
  recover() {
    hasRecovered = true;
  },
});
ready({ url: `http://127.0.0.1:${port}/hooks` });
