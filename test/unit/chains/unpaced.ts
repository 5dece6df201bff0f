/** Pauses for tests that are not about pauses: an endpoint that limits is called again at once. */
export const UNPACED = { firstPauseMs: 0, longestPauseMs: 0 };
