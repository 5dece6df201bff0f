/**
 * The budget of weight: how much one body, one batch, one account or one address may ask of a process.
 * docs/weight.md is the table of what each is for and the spec that holds it.
 */

/** A body of more is refused before it is sent. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
/** JSON values, or pairs of a form. The largest legal create has less than 1,500. */
export const MAX_BODY_VALUES = 20_000;
/** Objects and arrays within each other, or the parts of a form's name. */
export const MAX_BODY_DEPTH = 20;
/** Of a JSON-RPC message beside a call's arguments: the SDK parses, copies and compares it many times over. */
export const MAX_MESSAGE_VALUES = 1000;

/** A body of up to so much is never kept waiting for others. */
export const SMALL_BODY_BYTES = 64 * 1024;
/** What all large bodies in hand may have together: worked on, each takes some twelve times its length. */
export const LARGE_BODIES_BYTES = 12 * 1024 * 1024;
/** And those of one account. */
export const LARGE_BODIES_BYTES_PER_ACCOUNT = LARGE_BODIES_BYTES / 2;
/** From a large body's first byte to the last byte of its answer, however slowly its client sends or reads. */
export const LARGE_BODY_HELD_MS = 120_000;

/** A host's length, as a URL writes it: a name has no more. */
export const MAX_HOST_LENGTH = 253;

/** What of an answer is read from Postgres at once, one object at least; what is lighter is one statement and one text. */
export const ANSWER_PART_BYTES = 512 * 1024;
/** What of a part is written at once; the next when the client has taken it. */
export const ANSWER_PIECE_BYTES = 64 * 1024;
/** Lines of a table that are read from Postgres at once, each with its share of a part. */
export const TABLE_PART_ROWS = 1000;
/** A client that does not take a piece within this time is cut off. */
export const PIECE_TAKEN_WITHIN_MS = 30_000;

/** Heavy answers, those of more than one part. */
export const HEAVY_ANSWERS = {
  /** Begun and not over, of one account; the next is told to wait. */
  perAccount: 20,
  /** Of all accounts. */
  most: 200,
  /** Parts in memory at once. */
  places: 4,
  placesPerAccount: 2,
  /** A part that its client takes slowly is let go, and read again when it comes back for the rest: after so long with no
   *  piece taken, and in any case after so long. */
  placeIdleMs: 200,
  placeKeptMs: 2000,
};

/** Whole answers that one account's clients have not taken: beyond so many bytes, those that have waited so long are cut. */
export const UNREAD_ANSWERS = { bytes: 16 * 1024 * 1024, waitedMs: 1000 };

/** A tool's answer is read whole, by an agent: more is refused. */
export const TOOL_ANSWER_BYTES = 1024 * 1024;

/** Wrong passwords and tokens of operators' pages that are looked at, from one address; then from all together. */
export const WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE = 10;
export const WRONG_PASSWORDS_A_MINUTE = 100;

/**
 * An address, which of IPv6 is a /64, may ask links RATE_LIMIT_LINK_PER_MINUTE, and have as many keys refused; for this part
 * of it unsigned transactions, which cost more.
 */
export const TRANSACTIONS_SHARE_OF_ADDRESS = 10;
/** And for this part what an address holds, which is a call to every network of its family. */
export const BALANCES_SHARE_OF_ADDRESS = 10;

/** How many keys each limit counts while the store is away, of some 250 bytes each. */
export const MAX_COUNTED_IN_MEMORY = 10_000;

/** Of one account or address, by one limit; all beyond them are told later. */
export const PROMPT_REFUSALS_A_MINUTE = 100;
export const REFUSED_LATER_MS = 1000;

/** Checkout keys that were refused, as hashes of some 200 bytes: asked again, they cost no question to Postgres. */
export const MAX_REFUSED_KEYS_KEPT = 10_000;

/** Of so many keys a process knows in which hour it noted their last use; of others it asks to have it written again. */
export const MAX_KEY_USES_KEPT = 10_000;

/** Items of more characters are read by themselves, and only where they are shown whole. */
export const LIGHT_ITEMS_CHARACTERS = 16_000;

/** Statements of one process that look through items, for pages or for images: Postgres has time for the others beside. */
export const LONG_READS_AT_ONCE = 2;

/** Calls under way at once to one endpoint for buyers' pages; whoever asks beyond them is told that it is not known. */
export const MAX_PAGE_RPC_CALLS = 32;

/** What so many wallets hold on a network is kept for a second, of some 1 KB each. */
export const MAX_HOLDINGS_KEPT = 1000;

/** Of so many merchants' wallets it is known which accounts they have, of some 300 bytes each. */
export const MAX_PAYOUT_WALLETS_KEPT = 5000;

/** One image of a merchant. */
export const MAX_IMAGE_BYTES = 2 * 1024 * 1024;

/** All images that one process has in hand, 56 MiB: remembered, on their way to us, and on their way to buyers. */
export const IMAGE_BYTES_KEPT = 24 * 1024 * 1024;
export const IMAGE_BYTES_IN_FLIGHT = 16 * 1024 * 1024;
export const IMAGE_BYTES_IN_FLIGHT_PER_ACCOUNT = 4 * 1024 * 1024;
export const IMAGE_BYTES_SENT = 16 * 1024 * 1024;
export const IMAGE_BYTES_SENT_TO_ADDRESS = 8 * 1024 * 1024;

/** Fetches of images under way at once, and those that wait for one to end. */
export const MAX_IMAGE_FETCHES = 24;
export const MAX_IMAGE_FETCHES_OF_ACCOUNT = 6;
export const MAX_IMAGE_FETCHES_OF_HOST = 4;
export const MAX_IMAGES_WAITING = 500;
export const MAX_IMAGES_WAITING_OF_ACCOUNT = 100;

/** Answers of links that are longer than this are counted while they are sent: all of a process, and those to one address. */
export const LONG_ANSWER_BYTES = 64 * 1024;
export const LONG_ANSWER_BYTES_SENT = 32 * 1024 * 1024;
export const LONG_ANSWER_BYTES_SENT_TO_ADDRESS = 8 * 1024 * 1024;

/** Whoever takes an image or a long answer more slowly is cut off. */
export const SENT_WITHIN_MS = 30_000;

/** Accounts that a process knows to have written lately. */
export const MAX_WRITERS_KEPT = 10_000;

/** Of writes that share a statement; one that is heavier goes alone. */
export const MAX_WRITTEN_BATCH_BYTES = 2 * 1024 * 1024;

/** Of events that one statement writes when sessions expire. */
export const MAX_EXPIRED_BATCH_BYTES = 8 * 1024 * 1024;

/** As stored, of what one statement of the clean-up removes. */
export const MAX_REMOVED_BATCH_BYTES = 8 * 1024 * 1024;

/** Of workers without a port whose metrics web shows, the last to write first. */
export const MAX_WORKER_PAGES = 200;

/** What so many workers died with is taken alone, after everything else. */
export const QUARANTINE_AFTER_CRASHES = 2;

/** Bodies of the webhook tries that one process has on their way; each of its places is for an equal part. */
export const MAX_WEBHOOK_BYTES_IN_FLIGHT = 16 * 1024 * 1024;

/** Webhook endpoints of an account in one mode. A guard, not a product limit. */
export const MAX_ENDPOINTS_PER_MODE = 1000;
