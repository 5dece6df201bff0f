/**
 * The budget of weight: how much one body, one batch, one account or one address may ask of a process.
 * docs/weight.md is the table of what each is for and the spec that holds it.
 */

/** A body of more is refused before it is sent. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Of writes that share a statement; one that is heavier goes alone. */
export const MAX_WRITTEN_TOGETHER_BYTES = 2 * 1024 * 1024;

/** Of events that one statement writes when sessions expire. */
export const MAX_EXPIRED_TOGETHER_BYTES = 8 * 1024 * 1024;

/** As stored, of what one statement of the clean-up removes. */
export const MAX_REMOVED_TOGETHER_BYTES = 8 * 1024 * 1024;

/** What so many workers died with is taken alone, after everything else. */
export const ALONE_AFTER_DEATHS = 2;
