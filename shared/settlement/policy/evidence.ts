import type { Certainty } from '../../payments/states.js';

/** Who can say something about a payment. `database` is what Postgres has recorded, `verify` the answer to `/verify`. */
export type Witness = 'facilitator' | 'chain' | 'verify' | 'database' | 'clock' | 'operator';

/** What a row rests on: the witnesses that it believes, and what their words make certain. */
export interface Evidence {
  readonly by: readonly Witness[];
  /** Absent: nothing. */
  readonly certain?: Certainty;
}
