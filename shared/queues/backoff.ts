/** The pause after the first failed try; each later one is twice as long, less up to a tenth. */
const FIRST_PAUSE_MS = 33_300;
const JITTER = 0.1;

/** BullMQ's exponential backoff on tries that are counted in a row, so that a lost Redis forgets none. */
export async function pauseAfterTryMs(tries: number): Promise<number> {
  const { Backoffs } = await import('bullmq');
  const exponential = Backoffs.builtinStrategies.exponential;
  if (exponential === undefined) throw new Error('BullMQ has no exponential backoff');
  return Number(exponential(FIRST_PAUSE_MS, JITTER)(tries));
}
