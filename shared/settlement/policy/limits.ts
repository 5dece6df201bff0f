/** Every pause and every limit of the rules for a payment. */

/** How often a call that was surely not processed is repeated, and after which pause (times the calls so far). */
export const MAX_UNPROCESSED_CALLS = 3;
export const RETRY_MS = 1000;
/** How often a payload goes to `/settle` in all. */
export const MAX_SETTLE_CALLS = 6;
/** The facilitator is asked again only while this much of the authorization is left. */
export const SETTLE_MARGIN_MS = 10_000;
/** How long after a `/settle` call's timeout it can no longer be in flight. */
export const AFTER_TIMEOUT_MS = 30_000;
/** A call must be over so long before another worker may take the payment. */
export const PAUSED_PROCESS_MARGIN_MS = 5000;
/** A facilitator that named a transaction has sent one: it gets time to land before the payload goes out again. */
export const REPORTED_PAUSE_MS = 30_000;

/** When to look at the chain after an unclear answer. */
export const FIRST_LOOK_MS = 1000;
/** Pauses between looks, the last one again and again. */
export const LOOK_PAUSES_MS = [2000, 4000, 8000, 15_000, 30_000] as const;
/** The longest pause in the minute that decides whether nobody can read a chain: one moment of it is enough to know. */
export const LISTENING_PAUSE_MS = 5000;
/** While a transaction is seen and waits for its confirmations. */
export const CONFIRMING_MS = 2000;
/** Between two looks of one search. */
export const SEARCHING_MS = 1000;
/** How long the chain is looked at before a refusal is told that a used authorization would get too. */
export const LOOK_BEFORE_REFUSAL_MS = 2000;

/** Authorizations that end later than this ahead are decided by looks at the chain instead of their end. */
export const LONGEST_WAIT_MS = 15 * 60_000;
/** Between the two looks that decide such a one. */
export const BETWEEN_LOOKS_MS = 15_000;
/** After an authorization's end, when no chain can be read; and how long nobody could read it by then. */
export const UNREADABLE_MARGIN_MS = 60_000;

/** What the newest block proves may still be reorganised away: one more look after this. */
export const REORGANISATION_MS = 120_000;
/** Between looks for late money. */
export const WATCH_INTERVAL_MS = 3_600_000;
export const LONGEST_WATCH_MS = 7 * 24 * 3_600_000;
/** When something of it is seen already. */
export const PENDING_LATE_MS = 30_000;
/** The first pause after a look for late money that could read nothing. */
export const UNREADABLE_PAUSE_MS = 15_000;
