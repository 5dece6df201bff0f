import type { ModelStep } from '../breadth-first/search.js';
import type { Policy } from '../setting/policy.js';
import type { Setting } from '../setting/setting.js';
import { entry, type Payload, type Payment, type World } from './world.js';

export type Step = ModelStep<World>;

export type Steps = Generator<Step>;

export interface Play {
  readonly policy: Policy;
  readonly setting: Setting;
}

/** One payment in its world. */
export interface Scene extends Play {
  readonly world: World;
  readonly id: number;
  readonly payment: Payment;
  readonly payload: Payload;
}

export function sceneOf(world: World, id: number, { policy, setting }: Play): Scene {
  const payment = entry(world.payments, id);
  return { policy, setting, world, id, payment, payload: entry(world.payloads, payment.payload) };
}
