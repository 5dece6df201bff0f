/**
 * What a facilitator's answer to `/settle` proves. `settled` and `rejected` are said only on its clear word, and
 * `not_processed` only when the call surely had no effect. Everything else is `unknown`: money may have moved, and the
 * chain has to be asked. `why` is for the log and holds nothing that the facilitator wrote but its code.
 */
export type SettleVerdict =
  | { kind: 'settled'; transaction: string; payer: string | undefined }
  /** `ifUsedToo`: an authorization that was used would be refused with the same word. */
  | { kind: 'rejected'; code: string; reason: string; ifUsedToo: boolean }
  | { kind: 'not_processed'; why: string }
  /** It was not sent: its turn does not come in time, but in so many milliseconds it may. */
  | { kind: 'postponed'; why: string; forMs: number }
  /** `mayGoOn`: the facilitator may still be at it. */
  | { kind: 'unknown'; why: string; transaction: string | undefined; mayGoOn: boolean };
