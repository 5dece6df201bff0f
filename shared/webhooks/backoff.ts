import type { MinimalJob } from 'bullmq';

/** The pause after the first failed try; each later one is twice as long, less up to a tenth. */
const BACKOFF = { type: 'exponential', delay: 33_300, jitter: 0.1 };
/** Its error and its job are for strategies of one's own. */
const OF_NO_JOB = [new Error('a try has failed'), {} as MinimalJob] as const;

/** BullMQ's exponential backoff on tries that are counted in a row, so that a lost Redis forgets none. */
export async function pauseAfterTryMs(tries: number): Promise<number> {
  const { Backoffs } = await import('bullmq');
  const pauseMs = await Backoffs.calculate(BACKOFF, tries, ...OF_NO_JOB);
  if (pauseMs === undefined) throw new Error('BullMQ knows no exponential backoff');
  return pauseMs;
}
