/** Every pause and every limit of the payment policy. */

/** Calls in all, when the facilitator surely processed none; the pause before the next is this times the calls so far. */
export const MAX_UNPROCESSED_CALLS = 3;
export const RETRY_MS = 1000;
/** Calls of `/settle` for one payload in all. */
export const MAX_SETTLE_CALLS = 6;
/** The facilitator is asked again only while this much of the authorization is left. */
export const SETTLE_MARGIN_MS = 10_000;
/** The pause after an unclear call, by the number of calls so far. */
export const CALL_PAUSES_MS = [0, 10_000, 20_000, 40_000, 80_000] as const;
/** A `/settle` call is no longer in flight at the facilitator this long after its timeout. */
export const AFTER_TIMEOUT_MS = 30_000;
/** A call must be over this long before another worker may take the payment. */
export const PAUSED_PROCESS_MARGIN_MS = 5000;
/** A facilitator that named a transaction has sent one: it gets time to land before the payload goes out again. */
export const REPORTED_PAUSE_MS = 30_000;

/** The pause before the first chain check after an unclear answer. */
export const FIRST_CHECK_MS = 1000;
/** The pauses between checks. The last one repeats. */
export const CHECK_PAUSES_MS = [2000, 4000, 8000, 15_000, 30_000] as const;
/** The pause while a transaction that was seen waits for its confirmations. */
export const CONFIRMING_MS = 2000;
/** The pause between two checks of one search. */
export const SEARCHING_MS = 1000;

/** An authorization that ends later than this after the last call is decided by chain checks, not by its end. */
export const LONGEST_WAIT_MS = 15 * 60_000;
/** The pause between the two checks that decide such an authorization. */
export const BETWEEN_CHECKS_MS = 15_000;
/** The newest block that can be read may be this far behind the clock. */
export const BLOCK_LAG_MS = 60_000;
/** A block that is further ahead of the clock shows that the chain's clock and ours disagree. */
export const BLOCK_AHEAD_MS = 30_000;
/** A payment is given up as uncertain when its chain was unreadable for so long. After its week, a watch ends that was open for so long. */
export const LONGEST_UNREADABLE_MS = 24 * 3_600_000;
/** A payment whose chain is still unreadable so long after the end of its authorization is an error. */
export const UNREADABLE_ALARM_MS = 5 * 60_000;
/** Each confirmation that is set may take so long: Ethereum's blocks, the slowest, come every 12 s when none is missed. */
export const LONGEST_CONFIRMATION_MS = 15_000;

/** A reorganisation may undo the newest block: one more check comes after this pause. */
export const REORGANISATION_MS = 120_000;
/** The pause between checks for late money. */
export const WATCH_INTERVAL_MS = 3_600_000;
export const LONGEST_WATCH_MS = 7 * 24 * 3_600_000;
/** The pause between checks for late money, when the chain shows a use already. */
export const PENDING_LATE_MS = 30_000;
/** The first pause after a check for late money that could read nothing. */
export const UNREADABLE_PAUSE_MS = 15_000;
