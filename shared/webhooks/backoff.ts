/**
 * The retry schedule of webhooks: the longest pause after each failed try, in ms. It is BullMQ's exponential backoff of
 * 33.3 s with a jitter of 0.1, written out, since tries are counted in the delivery's row and not in a job. The 14th try
 * is the last.
 */
export const LONGEST_PAUSES_MS = [
  33_300, // 33 s
  66_600, // 1 min
  133_200, // 2 min
  266_400, // 4 min
  532_800, // 9 min
  1_065_600, // 18 min
  2_131_200, // 36 min
  4_262_400, // 71 min
  8_524_800, // 2.4 h
  17_049_600, // 4.7 h
  34_099_200, // 9.5 h
  68_198_400, // 19 h
  136_396_800, // 38 h
] as const;

/** Each pause is randomly shortened by up to this part. */
const JITTER = 0.1;

/** The number of tries of a delivery: the last comes 68.2 to 75.8 hours after the first. */
export const MAX_TRIES = LONGEST_PAUSES_MS.length + 1;

/** The pause before the next try, when `tries` have failed so far; undefined when the last one has. */
export function pauseAfterTriesMs(tries: number): number | undefined {
  const longestMs = LONGEST_PAUSES_MS[tries - 1];
  return longestMs === undefined
    ? undefined
    : Math.floor(Math.random() * longestMs * JITTER + longestMs * (1 - JITTER));
}
