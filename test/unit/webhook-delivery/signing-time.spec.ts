import assert from 'node:assert/strict';
import { correctClock, unmockedHostMs } from '../../../shared/process/clock.js';
import { signingTimeMs } from '../../../workers/webhook-delivery/sign.js';

const HOUR_MS = 3_600_000;
const SECOND_MS = 1000;

describe("a webhook's signing time", () => {
  const setPostgres = (aheadMs: number): void => {
    const at = unmockedHostMs();
    correctClock(at + aheadMs, { askedAtMs: at, answeredAtMs: at });
  };
  afterEach(() => setPostgres(0));

  /** How far the first four tries are ahead of the host's clock. */
  const aheadSeconds = (): number[] =>
    [0, 1, 2, 3].map((tries) => Math.round((signingTimeMs({ tries }) - unmockedHostMs()) / SECOND_MS));

  for (const aheadMs of [HOUR_MS, -HOUR_MS]) {
    it(`takes turns between clocks that are ${aheadMs / HOUR_MS} hour apart, so that one of two tries is in time`, () => {
      setPostgres(aheadMs);
      assert.deepEqual(aheadSeconds(), [aheadMs / SECOND_MS, 0, aheadMs / SECOND_MS, 0]);
    });
  }

  it("is Postgres' while the clocks agree", () => {
    setPostgres(20 * SECOND_MS);
    assert.deepEqual(aheadSeconds(), [20, 20, 20, 20]);
  });
});
