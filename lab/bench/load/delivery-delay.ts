import type { Receiver } from '../../world/receiver/receiver.js';
import type { Row } from '../report/benchmark.js';
import { percentile } from '../report/statistics.js';
import { type Shop, until } from '../system/shop.js';

/** Milliseconds from before the transaction of an event until `receiver`, which gets no other event, has received it. */
export async function deliveryDelay(shop: Shop, receiver: Receiver): Promise<number> {
  const received = receiver.got.length;
  const began = performance.now();
  await shop.recordEvents('checkout.session.completed', 1);
  await until(() => receiver.got.length > received);
  return (receiver.got.at(-1)?.at ?? 0) - began;
}

/** The columns of a table for delays in milliseconds. */
export function delayColumns(delays: readonly number[]): Row {
  return {
    'p50 ms': percentile(delays, 0.5),
    'p95 ms': percentile(delays, 0.95),
    'max ms': percentile(delays, 1),
  };
}
