import assert from 'node:assert/strict';
import { Backoffs, type MinimalJob } from 'bullmq';
import { LONGEST_PAUSES_MS, MAX_TRIES, pauseAfterTriesMs } from '../../../shared/webhooks/backoff.js';

const HOUR_MS = 3_600_000;

describe('the retry schedule of webhooks', () => {
  const { random } = Math;
  afterEach(() => {
    Math.random = random;
  });

  it("is BullMQ's exponential backoff of 33.3 s with a jitter of 0.1, pause by pause", async () => {
    for (const chance of [0, 0.25, 0.5, 0.999_999]) {
      Math.random = () => chance;
      for (let tries = 1; tries < MAX_TRIES; tries += 1) {
        const theirs = await Backoffs.calculate(
          { type: 'exponential', delay: 33_300, jitter: 0.1 },
          tries,
          new Error('a try has failed'),
          {} as MinimalJob,
        );
        assert.equal(pauseAfterTriesMs(tries), theirs, `after ${tries} tries, at ${chance}`);
      }
    }
  });

  it('has 14 tries, 68.2 to 75.8 hours from the first to the last', () => {
    assert.equal(MAX_TRIES, 14);
    assert.equal(pauseAfterTriesMs(MAX_TRIES), undefined);
    const longestMs = LONGEST_PAUSES_MS.reduce((sum, pauseMs) => sum + pauseMs, 0);
    assert.equal((longestMs / HOUR_MS).toFixed(1), '75.8');
    assert.equal(((longestMs * 0.9) / HOUR_MS).toFixed(1), '68.2');
  });
});
