/**
 * The budget of weight: how much one body, one batch, one account or one address may ask of a process.
 * docs/weight.md is the table of what each is for and the spec that holds it.
 */

/** A body of more is refused before it is sent. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Wrong passwords and tokens of operators' pages that are looked at, from one address; then from all together. */
export const WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE = 10;
export const WRONG_PASSWORDS_A_MINUTE = 100;
