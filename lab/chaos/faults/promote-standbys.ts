import { drawMs, type Fault } from './fault.js';

/** The fault of the journal; commits between its two times are lost. */
export const STANDBY_PROMOTED = 'a standby promoted without the last commits';
const LOST_MS = [100, 2500] as const;

/** An asynchronous standby takes the place of a Postgres that has gone on without it for a moment. */
export function promoteStandbys(): Fault {
  return {
    everyMs: 25_000,
    async inject({ postgres, links, journals }, random, wait) {
      const lengthMs = drawMs(random, LOST_MS);
      const { from, to } = await postgres.failOver(() => wait(lengthMs));
      links.leadTo('Postgres', postgres.directUrl);
      const detail = `without ${lengthMs} ms`;
      journals.faults.write({ at: from, ms: to - from, fault: STANDBY_PROMOTED, detail, target: 'Postgres' });
      return undefined;
    },
  };
}
