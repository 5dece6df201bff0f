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
export const LARGE_BODY_IN_HAND_MS = 120_000;

/** A host's length, as a URL writes it: a name has no more. */
export const MAX_HOST_LENGTH = 253;
