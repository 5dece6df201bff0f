import type { ChainFinding, Finding } from '../../chains/check/finding.js';
import type { Condition, Rows } from './decision-table.js';
import type { Settings, Times, WatchedPayment } from './payment-state.js';

/** One chain check, with everything that decides about it. */
export interface CheckCase<Found extends ChainFinding = ChainFinding> {
  payment: WatchedPayment;
  finding: Found;
  /** The answer of `/verify`: true when the payload is valid, which means unused. Undefined before it is asked. */
  isValid?: boolean;
  /** Postgres may have forgotten a call for the same payload, which may still use it. */
  commitsMayBeLost: boolean;
  settings: Settings;
  times: Times;
}

export type CheckCondition<Kind extends ChainFinding['kind'] = ChainFinding['kind']> = Condition<
  CheckCase<Finding<Kind>>
>;

export type CheckStep =
  | { kind: 'succeed'; proof: { transaction: string; payer: string | undefined; proofIndex: number } }
  | { kind: 'fail'; code: string; released: false; watchAt: Date | undefined }
  | { kind: 'settle_again'; at: Date }
  /** `unusedSeenAt`: the time of the first of the two checks that decide. Every other step clears it. */
  | { kind: 'check_again'; at: Date; unusedSeenAt?: Date }
  | { kind: 'stop_watching' }
  | { kind: 'ask_verify' };

export type CheckTable = {
  readonly [Kind in ChainFinding['kind']]: Rows<CheckCase<Finding<Kind>>, CheckStep>;
};
