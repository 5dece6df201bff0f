/**
 * How much one body, one batch, one account or one address may take of a process. docs/weight.md lists the purpose and the
 * spec of each limit.
 */

/**
 * Connections to a web process: in all, and of one address. One beyond them is closed as soon as it is accepted. With
 * TRUST_PROXY they are not counted by address, since all of them are the proxy's.
 */
export const MAX_CONNECTIONS = 8192;
export const MAX_CONNECTIONS_OF_ADDRESS = 256;
/** Requests of one connection without a whole answer. The connection is not read further until one of them is answered. */
export const MAX_UNANSWERED_OF_CONNECTION = 32;
/** Request line and headers of a request; a payment header alone may have 16 KiB. */
export const MAX_HEADER_BYTES = 32 * 1024;
export const MAX_REQUEST_HEADERS = 64;
/**
 * Bytes of requests, over all connections, that are half sent or wait behind unanswered ones. Beyond them a connection is
 * closed: among the connections that hold at least the average, the one with the oldest bytes. A body counts up to
 * `ofConnection`: LARGE_BODIES_BYTES bounds longer ones.
 */
export const HELD_INPUT = { bytes: 32 * 1024 * 1024, ofConnection: 128 * 1024 };
/** Input that is read and dropped after the last answer of a connection: a reset would take the answer away. */
export const READ_OUT = { bytes: 8 * 1024 * 1024, ms: 5000 };

/** A larger body is refused by its Content-Length or while it is read. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
/** JSON values, or pairs of a form. The largest legal create has fewer than 1,500. */
export const MAX_BODY_VALUES = 20_000;
/** Nesting of JSON objects and arrays, or the brackets in a form's name. */
export const MAX_BODY_DEPTH = 20;
/** JSON values of a JSON-RPC message without the call's arguments: the SDK parses, copies and compares them many times. */
export const MAX_MESSAGE_VALUES = 1000;

/** Bodies above this size count against LARGE_BODIES_BYTES. */
export const SMALL_BODY_BYTES = 64 * 1024;
/** Total bytes of large bodies in flight. Handling a body takes some twelve times its length in memory. */
export const LARGE_BODIES_BYTES = 12 * 1024 * 1024;
/** Bytes of one account's large bodies in flight. */
export const LARGE_BODIES_BYTES_PER_ACCOUNT = LARGE_BODIES_BYTES / 2;
/** Time limit from a large body's first byte to the last byte of its answer. */
export const LARGE_BODY_IN_FLIGHT_MS = 120_000;

/** DNS limits a host name to 253 characters. */
export const MAX_HOST_LENGTH = 253;

/** Answers are read from Postgres in parts of this size, each at least one object. A smaller answer takes one statement. */
export const ANSWER_PART_BYTES = 512 * 1024;
/** A part is sent in pieces of this size, each after the client has taken the previous one. */
export const ANSWER_PIECE_BYTES = 64 * 1024;
/** Rows of a table that are read from Postgres at once. */
export const TABLE_PART_ROWS = 1000;
/** A client that does not take a piece within this time is cut off. */
export const PIECE_TAKEN_WITHIN_MS = 30_000;

/** A heavy answer is one of more than one part. */
export const HEAVY_ANSWERS = {
  /** Heavy answers in flight for one account; the next is refused with the time to retry. */
  perAccount: 20,
  /** Heavy answers in flight for all accounts. */
  total: 200,
  /** Parts in memory at once, each in a slot. */
  slots: 4,
  slotsPerAccount: 2,
  /** A part is dropped when its client takes no piece for `slotIdleMs`, or after `slotKeptMs`. It is read again when the
   *  client continues. */
  slotIdleMs: 200,
  slotKeptMs: 2000,
};

/**
 * Bytes of whole answers that clients have not read: of one account or address, and in all. Above that, answers older than
 * `waitedMs` are cut off. Answers shorter than `countedFrom` are not counted.
 */
export const UNREAD_ANSWERS = {
  bytes: 16 * 1024 * 1024,
  total: 64 * 1024 * 1024,
  waitedMs: 1000,
  countedFrom: 16 * 1024,
};

/** The limit of an MCP tool's answer, which an agent reads whole; a larger one is refused. */
export const TOOL_ANSWER_BYTES = 1024 * 1024;

/** Wrong passwords and tokens of operators' pages that are checked, per address and in total. */
export const WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE = 10;
export const WRONG_PASSWORDS_A_MINUTE = 100;

/**
 * An address (for IPv6 a /64) may send RATE_LIMIT_LINK_PER_MINUTE requests to links and have as many keys refused. For
 * unsigned transactions, which cost more, it has a tenth of that.
 */
export const TRANSACTIONS_SHARE_OF_ADDRESS = 10;
/** The address's share for wallets' balances, each of which takes a call to every network of a family. */
export const BALANCES_SHARE_OF_ADDRESS = 10;

/** Keys that each limit counts in memory while the store is unavailable, some 250 bytes each. */
export const MAX_COUNTED_IN_MEMORY = 10_000;

/** Refusals of one account or address by one limit that are sent at once; further ones are delayed. */
export const PROMPT_REFUSALS_A_MINUTE = 100;
export const REFUSED_LATER_MS = 1000;

/** Refused checkout keys, as hashes of some 200 bytes: a repeated one needs no query. */
export const MAX_REFUSED_KEYS_KEPT = 10_000;

/** Keys of which a process remembers the hour of the last recorded use; the use of any other key is written again. */
export const MAX_KEY_USES_KEPT = 10_000;

/** Line items of more characters are read separately, and only where they are shown whole. */
export const LIGHT_ITEMS_CHARACTERS = 16_000;

/** Statements of one process in flight that scan line items for pages, so that other statements get their time. */
export const LONG_READS_AT_ONCE = 2;

/** Statements in flight that read images, of up to five sessions each: a stranger may ask for many large sessions' at once. */
export const IMAGE_READS_AT_ONCE = 1;

/** Statements of one process in flight that read the sessions of links; reads that arrive meanwhile share the next one. */
export const LINK_READS_AT_ONCE = 3;

/** Calls in flight to one RPC endpoint for buyers' pages; a call beyond them answers that the chain is unreadable. */
export const MAX_PAGE_RPC_CALLS = 32;

/** Calls of chain checks that wait for their turn at one RPC endpoint, some 2 KB each; a check beyond them is made again later. */
export const MAX_WAITING_RPC_CALLS = 2000;

/** Wallets per network whose balances are kept for a second, some 1 KB each. */
export const MAX_HOLDINGS_KEPT = 1000;

/** Merchants' wallets whose token accounts a process knows, some 300 bytes each. */
export const MAX_PAYOUT_WALLETS_KEPT = 5000;

/** The size of one merchant image. */
export const MAX_IMAGE_BYTES = 2 * 1024 * 1024;

/** Bytes of images in one process, 56 MiB in total: cached, being downloaded, and being sent to buyers. */
export const IMAGE_BYTES_KEPT = 24 * 1024 * 1024;
export const IMAGE_BYTES_IN_FLIGHT = 16 * 1024 * 1024;
export const IMAGE_BYTES_IN_FLIGHT_OF_ACCOUNT = 4 * 1024 * 1024;
export const IMAGE_BYTES_SENT = 16 * 1024 * 1024;
export const IMAGE_BYTES_SENT_OF_ACCOUNT = 8 * 1024 * 1024;
export const IMAGE_BYTES_SENT_TO_ADDRESS = 8 * 1024 * 1024;

/**
 * The answer of another server: a webhook receiver, an image host, a facilitator, a chain's endpoint. Its headers, together
 * with the headers of interim answers (1xx) before them; how many interim answers; and how many pieces, as they arrive and
 * as chunked encoding divides them. A longer answer may have another piece for each ANSWER_BYTES_PER_FURTHER_PIECE. Hundreds
 * of receivers may answer at the same time, and their bodies decide nothing: they have fewer pieces.
 */
export const MAX_ANSWER_HEAD_BYTES = 64 * 1024;
export const MAX_ANSWER_HEAD_LINES = 500;
export const MAX_INTERIM_ANSWERS = 5;
export const MAX_ANSWER_PIECES = 2000;
export const MAX_RECEIVER_ANSWER_PIECES = 250;
export const ANSWER_BYTES_PER_FURTHER_PIECE = 512;

/**
 * The body of a chain's answer, some 3,000 logs. It is parsed in one go. A longer answer to a search for logs is asked for again
 * in shorter ranges of blocks, one to a batch call by call. A transaction has room for far more logs, of 400 gas each: instead of
 * its receipt a payer's logs in its block are searched.
 */
export const MAX_CHAIN_ANSWER_BYTES = 2 * 1024 * 1024;
export const MAX_CHAIN_ANSWER_VALUES = 60_000;
/**
 * Bytes of chains' answers of more than SMALL_BODY_BYTES that a process is reading: of all endpoints, and of one endpoint.
 */
export const CHAIN_ANSWER_BYTES_IN_FLIGHT = 24 * 1024 * 1024;
export const CHAIN_ANSWER_BYTES_IN_FLIGHT_OF_ENDPOINT = CHAIN_ANSWER_BYTES_IN_FLIGHT / 2;

/** The body of a facilitator's answer. FACILITATOR_TIMEOUT_MS limits the time. */
export const MAX_FACILITATOR_ANSWER_BYTES = 256 * 1024;

/** The body of a receiver's answer decides nothing: it is read for the delivery's history and to keep the connection alive. */
export const MAX_RECEIVER_ANSWER_BYTES = 64 * 1024;
/**
 * Milliseconds from the start of a try to the end of the answer's headers, name look-up and TLS included; and from there to
 * its end.
 */
export const RECEIVER_HEADERS_WITHIN_MS = 10_000;
export const RECEIVER_BODY_WITHIN_MS = 1000;

/** Milliseconds from the request for a merchant's image to the end of the answer. */
export const IMAGE_WITHIN_MS = 5000;

/** Image fetches in flight, and fetches that wait for a slot. */
export const MAX_IMAGE_FETCHES = 24;
export const MAX_IMAGE_FETCHES_OF_ACCOUNT = 6;
/** Merchants may share a host: the account's slots there are fewer than the host's. */
export const MAX_IMAGE_FETCHES_OF_ACCOUNT_AT_HOST = 4;
export const MAX_IMAGE_FETCHES_OF_HOST = 12;
export const MAX_IMAGES_WAITING = 500;
export const MAX_IMAGES_WAITING_OF_ACCOUNT = 100;

/** Answers of links above this size count while they are sent: per process and per address. */
export const LONG_ANSWER_BYTES = 64 * 1024;
export const LONG_ANSWER_BYTES_SENT = 32 * 1024 * 1024;
export const LONG_ANSWER_BYTES_SENT_TO_ADDRESS = 8 * 1024 * 1024;

/** A client that takes an image or a long answer more slowly is cut off. */
export const SENT_WITHIN_MS = 30_000;

/** Accounts whose recent writes a process remembers. */
export const MAX_WRITERS_KEPT = 10_000;

/** Bytes of writes that share a statement; a larger write has its own. */
export const MAX_WRITTEN_BATCH_BYTES = 2 * 1024 * 1024;

/** Bytes of events that one statement writes when sessions expire. */
export const MAX_EXPIRED_BATCH_BYTES = 8 * 1024 * 1024;

/** Stored bytes that one statement of the clean-up removes. */
export const MAX_REMOVED_BATCH_BYTES = 8 * 1024 * 1024;

/** Workers without a port whose metrics web shows; the most recent writers are kept. */
export const MAX_WORKER_PAGES = 200;

/** A row on which this many workers crashed is processed alone, after all others. */
export const QUARANTINE_AFTER_CRASHES = 2;

/** Bytes of webhook bodies in flight in one process, divided equally among its slots. */
export const MAX_WEBHOOK_BYTES_IN_FLIGHT = 16 * 1024 * 1024;

/** An account may take one in so many of a process' connections to Postgres, and at least one. */
export const POOL_SHARES = 3;

/** Requests that wait for their account's connections, some 5 KB each. */
export const POOL_WAITING = 2000;
export const POOL_WAITING_OF_ACCOUNT = 200;

/** Pending deliveries of an account, held ones included. Above this number no event is sent again; new ones still are. */
export const MAX_PENDING_DELIVERIES = 100_000;

/** Deliveries that one statement writes when sessions expire. */
export const MAX_EXPIRED_BATCH_DELIVERIES = 10_000;

/** Webhook endpoints of an account in one mode. A guard, not a product limit. */
export const MAX_ENDPOINTS_PER_MODE = 1000;

/** Look-ups of the names of webhook endpoints that are added or changed, two queries each. */
export const MAX_URL_LOOKUPS = 100;
export const MAX_URL_LOOKUPS_OF_ACCOUNT = 20;
