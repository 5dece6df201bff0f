/**
 * The outcome that a facilitator's answer to `/settle` proves. `settled` and `rejected` need an unambiguous answer,
 * `not_processed` a call that certainly had no effect. Everything else is `unknown`: money may have moved, and only the chain
 * can tell. `why` is for the log and holds no text of the facilitator except its code.
 */
export type SettleVerdict =
  | { kind: 'settled'; transaction: string; payer: string | undefined }
  /** `mayMeanUsed`: a used authorization would be refused with the same code. */
  | { kind: 'rejected'; code: string; reason: string; mayMeanUsed: boolean }
  /** `isUnsent`: nothing has reached the facilitator. */
  | { kind: 'not_processed'; why: string; isUnsent?: true }
  /** The call was not sent, since its turn did not come in time. `forMs`: when it may come. */
  | { kind: 'postponed'; why: string; forMs: number }
  /** `mayStillRun`: the facilitator may still be working on the call. */
  | { kind: 'unknown'; why: string; transaction: string | undefined; mayStillRun: boolean };
