import { pick } from '../../world/chance/seeded-random.js';
import { deckOf, drawMs, type Fault } from './fault.js';

/** A process is stopped at any point, and later continues as if no time had passed. */
const LENGTHS_MS = [500, 8000] as const;
/** Longer than every lease and timeout of the process. */
const LONG_MS = [36_000, 40_000] as const;
const LONG_ONES = 2;

export function pauseProcesses(): Fault {
  return { everyMs: 4000, inject: pauser('SIGSTOP and SIGCONT', LENGTHS_MS) };
}

export function pauseForLong(): Fault {
  const inject = pauser('SIGSTOP for longer than any lease', LONG_MS);
  let left = LONG_ONES;
  return {
    everyMs: 10_000,
    async inject(...around) {
      if (left === 0) return undefined;
      const done = await inject(...around);
      if (done !== undefined) left -= 1;
      return done;
    },
  };
}

/** Two of three pauses hit workers, because workers hold leases. */
function pauser(fault: string, lengths: readonly [number, number]): Fault['inject'] {
  const drawKind = deckOf(['web', 'worker', 'worker'] as const);
  return async ({ services }, random, wait) => {
    const kind = drawKind(random);
    const running = services.filter((each) => each.kind === kind && each.isReady && !each.isPaused);
    if (running.length === 0) return undefined;
    const service = pick(random, running);
    const lengthMs = drawMs(random, lengths);
    service.pause();
    await wait(lengthMs);
    service.resume();
    return { fault, detail: `${service.name}, ${lengthMs} ms`, services: [service.name] };
  };
}
