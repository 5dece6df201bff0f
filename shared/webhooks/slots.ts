import type { Knex } from '../db/knex.js';
import { WebhookEndpoint } from './model.js';

/**
 * Slots of one endpoint: how many deliveries to it may be in flight, over all workers. A new endpoint has LEAST_SLOTS. The
 * number doubles after a round of quick successes, and is halved by a slow answer or a failure. A failing endpoint has
 * SLOTS_WHILE_FAILING, so that many failing endpoints that hang leave slots for the others.
 */
export const LEAST_SLOTS = 10;
export const MOST_SLOTS = 50;
export const SLOTS_WHILE_FAILING = 2;

/** Returns false when another worker has changed the number meanwhile, or the endpoint has begun to fail. */
export async function changeSlots(
  db: Knex,
  { id, slots }: { id: string; slots: number },
  to: number,
): Promise<boolean> {
  const changed = await WebhookEndpoint.query(db)
    .findById(id)
    .patch({ slots: to })
    .where({ places: slots })
    .whereNull('failingSince');
  return changed === 1;
}

/** The slots of one process that an account may take now. */
export interface SlotAllowance {
  slots: number;
  /** How many of `slots` the deliveries to one host may take. */
  ofHost(host: string): number;
  /** Hosts that may take no slot. */
  fullHosts: readonly string[];
  /** A body with more bytes takes several slots. */
  bytesPerSlot: number;
}

/** Round robin: gives each endpoint in turn one slot, until no slot is left or each endpoint or its host has its maximum. */
export function dealSlots(
  endpoints: readonly { id: string; host: string; most: number }[],
  allowance: Pick<SlotAllowance, 'slots' | 'ofHost'>,
): Map<string, number> {
  const dealt = new Map(endpoints.map(({ id }) => [id, 0]));
  const leftOf = new Map(endpoints.map(({ host }) => [host, allowance.ofHost(host)]));
  let left = allowance.slots;
  for (let before = -1; left > 0 && left !== before; ) {
    before = left;
    for (const { id, host, most } of endpoints) {
      const own = dealt.get(id) ?? 0;
      const ofHost = leftOf.get(host) ?? 0;
      if (left === 0 || ofHost === 0 || own >= most) continue;
      dealt.set(id, own + 1);
      leftOf.set(host, ofHost - 1);
      left -= 1;
    }
  }
  return dealt;
}
