import { setTimeout as sleep } from 'node:timers/promises';
import { startReceiver } from '../../world/receiver/receiver.js';
import { Client, type Told } from './client.js';

/**
 * An ordinary merchant and its buyers, as a process of its own: what it measures is not the work of whoever is heavy
 * beside it. It goes on with its trade, one order after the other; each is then ended, which is an event.
 */

/** In milliseconds. */
export type Felt = Record<Act, number[]>;
export type Act = 'create' | 'retrieve' | 'link' | 'webhook';

/** Since it was asked before. */
export interface Report {
  felt: Felt;
  /** What it was refused. */
  refused: readonly string[];
  /** Events that were not received by now. */
  awaited: number;
}

const SESSIONS = '/v1/checkout/sessions';
const ORDER = JSON.stringify({
  line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }],
});
const JSON_TYPE = { 'Content-Type': 'application/json' };
/** Its visitor is within the limit of one address. */
const EVERY_MS = 150;
/** Later than that an event counts as lost. */
const LONGEST_MS = 60_000;

const [url = '', key = ''] = process.argv.slice(2);
const merchant = new Client(url, { 'X-Forwarded-For': '198.51.100.1', Authorization: `Bearer ${key}` });
const visitor = new Client(url, { 'X-Forwarded-For': '198.51.100.2' });
const receiver = await startReceiver();
let felt = newFelt();
let refused: string[] = [];
const awaited = new Map<string, number>();
let heard = 0;
let isOver = false;

process.on('message', (order: 'report' | 'stop') => {
  if (order === 'stop') isOver = true;
  else process.send?.(report());
});
process.on('disconnect', () => process.exit());

const body = JSON.stringify({ url: receiver.url, enabled_events: ['checkout.session.expired'] });
const added = await merchant.ask('/v1/webhook_endpoints', { method: 'POST', headers: JSON_TYPE, body });
if (added.status !== 200) throw new Error(`the neighbour got no endpoint: ${added.text}`);
process.send?.('open');
while (!isOver) {
  await trade();
  hear();
  await sleep(EVERY_MS);
}

async function trade(): Promise<void> {
  const created = await merchant.ask(SESSIONS, { method: 'POST', headers: JSON_TYPE, body: ORDER });
  if (!note('create', created, 200)) return;
  const { id }: { id: string } = JSON.parse(created.text);
  note('retrieve', await merchant.ask(`${SESSIONS}/${id}`), 200);
  note('link', await visitor.ask(`/c/${id}`), 402);
  const began = performance.now();
  const ended = await merchant.ask(`${SESSIONS}/${id}/expire`, { method: 'POST' });
  if (ended.status === 200) awaited.set(id, began);
  else refused.push(`expire: ${ended.status}`);
}

function note(act: Act, { status, ms }: Told, expected: number): boolean {
  felt[act].push(ms);
  if (status !== expected) refused.push(`${act}: ${status}`);
  return status === expected;
}

function hear(): void {
  for (; heard < receiver.got.length; heard += 1) {
    const event = receiver.got[heard];
    if (event === undefined) return;
    const { id }: { id: string } = JSON.parse(event.raw).data.object;
    const began = awaited.get(id);
    if (began === undefined) continue;
    awaited.delete(id);
    felt.webhook.push(event.at - began);
  }
}

/** An event that is late counts as long as it is. */
function report(): Report {
  hear();
  const now = performance.now();
  for (const since of awaited.values()) if (now - since > LONGEST_MS) felt.webhook.push(now - since);
  const reported = { felt, refused, awaited: awaited.size };
  felt = newFelt();
  refused = [];
  return reported;
}

function newFelt(): Felt {
  return { create: [], retrieve: [], link: [], webhook: [] };
}
