/**
 * The budget of weight: how much one body, one batch, one account or one address may ask of a process.
 * docs/weight.md is the table of what each is for and the spec that holds it.
 */

/** A body of more is refused before it is sent. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Bodies of the webhook tries that one process has on their way; each of its places is for an equal part. */
export const MAX_WEBHOOK_BYTES_IN_HAND = 16 * 1024 * 1024;
