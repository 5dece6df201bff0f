import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Reply } from './client.js';
import type { WeightSystem } from './system.js';

/** A heavy operation within all limits: `connections` callers repeat it. */
export interface HeavyOperation {
  name: string;
  connections: number;
  /** The bounds, named as in test/support/units/units.ts, up to which and beyond which it goes. */
  units: readonly string[];
  /** Makes the operation's objects, once. */
  prepare?(system: WeightSystem): Promise<void>;
  /** Starts the load of processes that no caller waits for, once. */
  begin?(system: WeightSystem): Promise<void>;
  /** Undefined when there is no answer to count. */
  once(system: WeightSystem, n: number): Promise<Reply | undefined>;
}

export const JSON_TYPE = { 'Content-Type': 'application/json' };

export function post(
  client: Client,
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = JSON_TYPE,
): Promise<Reply> {
  return client.send(path, { method: 'POST', headers, body });
}

const REFUSED_PAUSE_MS = 200;

/** Creates an object as soon as the limits allow it; returns its id. */
export async function create(client: Client, path: string, body: string): Promise<string> {
  for (;;) {
    const { status, text } = await post(client, path, body);
    if (status === 200) return JSON.parse(text).id;
    if (status !== 429) throw new Error(`${path} was refused: ${text.slice(0, 300)}`);
    await sleep(REFUSED_PAUSE_MS);
  }
}

const VISITORS = 50;
let strangers = 0;

/** A stranger with a /64 of addresses, which together have the limits of one address. */
export function stranger(): (system: WeightSystem, n: number) => Client {
  strangers += 1;
  const prefix = `2001:db8:0:${strangers.toString(16)}`;
  const clients = new Map<number, Client>();
  return (system, n) => {
    const one = n % VISITORS;
    const known = clients.get(one) ?? system.visitor(`${prefix}::${one.toString(16)}`);
    clients.set(one, known);
    return known;
  };
}
