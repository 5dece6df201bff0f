/** A payment in progress for longer is shown as slower than usual. */
export const LATE_SECONDS = 30;
