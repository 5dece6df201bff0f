/** From when on a payment that is on its way is said to take longer than usual. */
export const LATE_SECONDS = 30;
