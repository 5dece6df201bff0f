/**
 * The budget of weight: how much one body, one batch, one account or one address may ask of a process.
 * docs/weight.md is the table of what each is for and the spec that holds it.
 */

/** A body of more is refused before it is sent. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** What of an answer is read from Postgres at once, one object at least; what is lighter is one statement and one text. */
export const ANSWER_PART_BYTES = 512 * 1024;
/** What of a part is written at once; the next when the client has taken it. */
export const ANSWER_PIECE_BYTES = 64 * 1024;
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
