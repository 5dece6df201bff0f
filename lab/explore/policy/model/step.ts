import type { Policy } from '../policy.js';
import type { Setting } from '../setting.js';
import { entry, type Payload, type Payment, type World } from './world.js';

export interface Step {
  readonly what: string;
  readonly world: World;
  /** No party fails or lies. Such steps alone, without an operator, lead every payment to its end. */
  readonly isHonest: boolean;
  /** A promise that this step breaks. */
  readonly broken?: string | undefined;
  /** The rows of the policy that decided. */
  readonly rows?: readonly string[];
}

export type Steps = Generator<Step>;

export interface Play {
  readonly policy: Policy;
  readonly setting: Setting;
}

/** One payment in its world, whose turn it is. */
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
