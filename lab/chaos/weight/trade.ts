import { setTimeout as sleep } from 'node:timers/promises';
import { startReceiver } from '../../world/receiver/receiver.js';
import { coffeeOrder } from '../../world/shop/coffee-order.js';
import { Client, type Reply } from './client.js';
import { post } from './heavy-operation.js';

/**
 * An ordinary merchant and its buyers, in a process of its own, so that its measurements do not include the load
 * generator's work. It places one order after another; each order is then expired, which is an event.
 */

/** Latencies in milliseconds. */
export type Latencies = Record<Operation, number[]>;
export type Operation = 'create' | 'retrieve' | 'link' | 'webhook';

/** Measurements since the last report. */
export interface Report {
  latencies: Latencies;
  /** Refused requests. */
  refused: readonly string[];
  /** Events that have not been received yet. */
  awaited: number;
}

const SESSIONS = '/v1/checkout/sessions';
const ORDER = JSON.stringify(coffeeOrder());
/** The rate is within the limit of one address. */
const EVERY_MS = 150;
/** An event that takes longer counts as lost. */
const LONGEST_MS = 60_000;

const [url = '', key = ''] = process.argv.slice(2);
const merchant = new Client(url, { 'X-Forwarded-For': '198.51.100.1', Authorization: `Bearer ${key}` });
const visitor = new Client(url, { 'X-Forwarded-For': '198.51.100.2' });
const receiver = await startReceiver();
let latencies = noLatencies();
let refused: string[] = [];
const awaited = new Map<string, number>();
let eventsRead = 0;
let isOver = false;

process.on('message', (order: 'report' | 'stop') => {
  if (order === 'stop') isOver = true;
  else process.send?.(report());
});

const body = JSON.stringify({ url: receiver.url, enabled_events: ['checkout.session.expired'] });
const added = await post(merchant, '/v1/webhook_endpoints', body);
if (added.status !== 200) throw new Error(`the neighbour got no endpoint: ${added.text}`);
process.send?.('open');
while (!isOver) {
  await trade();
  readEvents();
  await sleep(EVERY_MS);
}

async function trade(): Promise<void> {
  const created = await post(merchant, SESSIONS, ORDER);
  if (!note('create', created, 200)) return;
  const { id }: { id: string } = JSON.parse(created.text);
  note('retrieve', await merchant.send(`${SESSIONS}/${id}`), 200);
  note('link', await visitor.send(`/c/${id}`), 402);
  const began = performance.now();
  const ended = await merchant.send(`${SESSIONS}/${id}/expire`, { method: 'POST' });
  if (ended.status === 200) awaited.set(id, began);
  else refused.push(`expire: ${ended.status}`);
}

function note(operation: Operation, { status, ms }: Reply, expected: number): boolean {
  latencies[operation].push(ms);
  if (status !== expected) refused.push(`${operation}: ${status}`);
  return status === expected;
}

function readEvents(): void {
  for (; eventsRead < receiver.got.length; eventsRead += 1) {
    const event = receiver.got[eventsRead];
    if (event === undefined) return;
    const { id }: { id: string } = JSON.parse(event.raw).data.object;
    const began = awaited.get(id);
    if (began === undefined) continue;
    awaited.delete(id);
    latencies.webhook.push(event.at - began);
  }
}

/** An event that is late counts with its age so far. */
function report(): Report {
  readEvents();
  const now = performance.now();
  for (const since of awaited.values()) if (now - since > LONGEST_MS) latencies.webhook.push(now - since);
  const reported = { latencies, refused, awaited: awaited.size };
  latencies = noLatencies();
  refused = [];
  return reported;
}

function noLatencies(): Latencies {
  return { create: [], retrieve: [], link: [], webhook: [] };
}
