/**
 * The budget of weight: how much one body, one batch, one account or one address may ask of a process.
 * docs/weight.md is the table of what each is for and the spec that holds it.
 */

/** A body of more is refused before it is sent. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/**
 * An address, which of IPv6 is a /64, may ask links RATE_LIMIT_LINK_PER_MINUTE; for this part of it, what costs more:
 * unsigned transactions, and keys that are refused.
 */
export const SMALLER_SHARE_OF_ADDRESS = 10;

/** How many keys each limit counts while the store is away, of some 250 bytes each. */
export const MAX_COUNTED_IN_MEMORY = 10_000;

/** Checkout keys that were refused, as hashes of some 200 bytes: asked again, they cost no question to Postgres. */
export const MAX_REFUSED_KEYS_KEPT = 10_000;

/** Items of more characters are read by themselves, and only where they are shown whole. */
export const LIGHT_ITEMS_CHARACTERS = 16_000;

/** Calls under way at once to one Solana endpoint for buyers' pages; whoever asks beyond them is told to try again. */
export const MAX_PAGE_RPC_CALLS = 32;

/** What so many wallets hold is kept for a second, of some 1 KB each. */
export const MAX_HOLDINGS_KEPT = 1000;
