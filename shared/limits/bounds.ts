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
/** Values of a JSON-RPC message beside a call's arguments: the SDK parses, copies and compares it many times over. */
export const MAX_MESSAGE_VALUES = 1000;

/** A larger body is a large one: the bytes of large bodies are limited. */
export const SMALL_BODY_BYTES = 64 * 1024;
/** All large bodies in flight together: while one is worked on, it takes some twelve times its length. */
export const LARGE_BODIES_BYTES = 12 * 1024 * 1024;
/** The large bodies in flight of one account. */
export const LARGE_BODIES_BYTES_PER_ACCOUNT = LARGE_BODIES_BYTES / 2;
/** From a large body's first byte to the last byte of its answer, however slowly its client sends or reads. */
export const LARGE_BODY_IN_FLIGHT_MS = 120_000;

/** A host's length, as a URL writes it: a name has no more. */
export const MAX_HOST_LENGTH = 253;

/** An answer is read from Postgres in parts of so many bytes, each at least one object; a lighter answer is one statement and one text. */
export const ANSWER_PART_BYTES = 512 * 1024;
/** A part is written in pieces of so many bytes; the next when the client has taken the one before. */
export const ANSWER_PIECE_BYTES = 64 * 1024;
/** Lines of a table that are read from Postgres at once, each with its share of a part. */
export const TABLE_PART_ROWS = 1000;
/** A client that does not take a piece within this time is cut off. */
export const PIECE_TAKEN_WITHIN_MS = 30_000;

/** Heavy answers, those of more than one part. */
export const HEAVY_ANSWERS = {
  /** In flight for one account; the next is refused with the time to retry. */
  perAccount: 20,
  /** In flight for all accounts. */
  total: 200,
  /** Parts in memory at once: each takes a slot. */
  slots: 4,
  slotsPerAccount: 2,
  /** A part that its client takes slowly is dropped, and read again when the client takes the rest: after so long with no
   *  piece taken, and in any case after so long. */
  slotIdleMs: 200,
  slotKeptMs: 2000,
};

/** Whole answers that one account's clients have not taken: beyond so many bytes, answers that have waited so long are cut off. */
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

/** Refusals of one account or address by one limit that are sent at once; further ones are sent later. */
export const PROMPT_REFUSALS_A_MINUTE = 100;
export const REFUSED_LATER_MS = 1000;

/** Checkout keys that were refused, as hashes of some 200 bytes: asked again, they cost no question to Postgres. */
export const MAX_REFUSED_KEYS_KEPT = 10_000;

/** For so many keys a process knows the hour of their last recorded use; the use of another key is written again. */
export const MAX_KEY_USES_KEPT = 10_000;

/** Items of more characters are read by themselves, and only where they are shown whole. */
export const LIGHT_ITEMS_CHARACTERS = 16_000;

/** Statements in flight of one process that read through line items, for pages or for images: the rest of Postgres's time stays for all other statements. */
export const LONG_READS_AT_ONCE = 2;

/** Calls in flight to one RPC endpoint for buyers' pages; a call beyond them answers that the chain is unreadable. */
export const MAX_PAGE_RPC_CALLS = 32;

/** Wallets per network whose balances are kept for a second, some 1 KB each. */
export const MAX_HOLDINGS_KEPT = 1000;

/** Merchants' wallets whose token accounts a process knows, some 300 bytes each. */
export const MAX_PAYOUT_WALLETS_KEPT = 5000;

/** One image of a merchant. */
export const MAX_IMAGE_BYTES = 2 * 1024 * 1024;

/** All images in one process, 56 MiB: cached, being downloaded, and being sent to buyers. */
export const IMAGE_BYTES_KEPT = 24 * 1024 * 1024;
export const IMAGE_BYTES_IN_FLIGHT = 16 * 1024 * 1024;
export const IMAGE_BYTES_IN_FLIGHT_OF_ACCOUNT = 4 * 1024 * 1024;
export const IMAGE_BYTES_SENT = 16 * 1024 * 1024;
export const IMAGE_BYTES_SENT_TO_ADDRESS = 8 * 1024 * 1024;

/** Fetches of images in flight, and fetches that wait for a slot. */
export const MAX_IMAGE_FETCHES = 24;
export const MAX_IMAGE_FETCHES_OF_ACCOUNT = 6;
export const MAX_IMAGE_FETCHES_OF_HOST = 4;
export const MAX_IMAGES_WAITING = 500;
export const MAX_IMAGES_WAITING_OF_ACCOUNT = 100;

/** Answers of links that are longer than this are counted while they are sent: all of a process, and those to one address. */
export const LONG_ANSWER_BYTES = 64 * 1024;
export const LONG_ANSWER_BYTES_SENT = 32 * 1024 * 1024;
export const LONG_ANSWER_BYTES_SENT_TO_ADDRESS = 8 * 1024 * 1024;

/** A client that takes an image or a long answer more slowly is cut off. */
export const SENT_WITHIN_MS = 30_000;

/** Accounts that a process knows to have written lately. */
export const MAX_WRITERS_KEPT = 10_000;

/** Bytes of writes that share a statement; a heavier write goes alone. */
export const MAX_WRITTEN_BATCH_BYTES = 2 * 1024 * 1024;

/** Bytes of events that one statement writes when sessions expire. */
export const MAX_EXPIRED_BATCH_BYTES = 8 * 1024 * 1024;

/** Bytes, as stored, that one statement of the clean-up removes. */
export const MAX_REMOVED_BATCH_BYTES = 8 * 1024 * 1024;

/** Workers without a port whose metrics web shows, the last to write first. */
export const MAX_WORKER_PAGES = 200;

/** What so many workers died with is taken alone, after everything else. */
export const QUARANTINE_AFTER_CRASHES = 2;

/** Bodies of the webhook tries in flight in one process; each of its slots stands for an equal part. */
export const MAX_WEBHOOK_BYTES_IN_FLIGHT = 16 * 1024 * 1024;

/** Webhook endpoints of an account in one mode. A guard, not a product limit. */
export const MAX_ENDPOINTS_PER_MODE = 1000;
