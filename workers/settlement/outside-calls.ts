import type { JobName } from '../../shared/jobs/jobs.js';
import { LEAVE_A_QUARTER, type Release } from '../../shared/limits/budget.js';
import { openConcurrency } from '../../shared/limits/concurrency.js';
import type { Logger } from '../../shared/process/logger.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { withResolvers } from '../../shared/process/with-resolvers.js';
import { type CallsInFlight, openCallsInFlight } from './calls-in-flight.js';

/**
 * The `/settle` calls of one process, or its chain checks. Their slots are divided among the networks (of each
 * facilitator), and a network's slots among its accounts: the next network, and within a network the next account, always
 * finds some. So payments whose calls hang do not delay those of another network.
 */
export interface OutsideCalls extends Closable {
  /** A slot for a call. When there is none, the time until one is likely to be free. */
  takeSlot(request: SlotRequest): Promise<SlotAnswer>;
  /**
   * Runs the payments of one job. Resolves when each has ended or its call is slow, so that the job's place in the queue is
   * free for others. Payments with slow calls continue, and are undefined in the result.
   */
  runJob<T>(payments: readonly ((runCall: RunCall) => Promise<T>)[]): Promise<(T | undefined)[]>;
  /** Waits for all payments. */
  close(): Promise<void>;
}

export interface SlotRequest {
  /** The network; for `/settle` with the facilitator's name before it. */
  network: string;
  accountId: string;
}

export type SlotAnswer = { kind: 'taken'; release: Release } | { kind: 'refused'; turnInMs: number };

/** Runs the call of a payment; the job does not wait for a slow call. */
export type RunCall = <T>(call: () => Promise<T>) => Promise<T>;

/** A job gives its place in the queue back after this time. */
const SLOW_CALL_MS = 250;
/** How long a call waits for a slot while the calls of its network and its account are answered. */
const WAIT_MS = 500;

export function openOutsideCalls(
  queue: JobName,
  slots: number,
  logger: Logger,
  slowCallMs: number = SLOW_CALL_MS,
): OutsideCalls {
  const calls = openConcurrency({
    total: slots,
    perHolder: [slots, slots],
    dynamicThreshold: LEAVE_A_QUARTER,
  });
  /** The keys are networks, and networks with an account. */
  const inFlightOf = new Map<string, CallsInFlight>();
  const running = new Set<Promise<unknown>>();

  function begin(names: readonly string[], release: Release): Release {
    const ends = names.map((name) => {
      const inFlight = inFlightOf.get(name) ?? openCallsInFlight();
      inFlightOf.set(name, inFlight);
      const end = inFlight.begin();
      return () => {
        end();
        if (inFlight.count === 0 && inFlightOf.get(name) === inFlight) inFlightOf.delete(name);
      };
    });
    return () => {
      for (const end of ends) end();
      release();
    };
  }

  return {
    async takeSlot({ network, accountId }) {
      const names = [network, `${network} ${accountId}`];
      const free = calls.tryTake(...names);
      if (free !== undefined) return { kind: 'taken', release: begin(names, free) };
      // An account without calls finds no slot only where others of its network have all of them.
      const full = names.flatMap((name) => inFlightOf.get(name) ?? []).at(-1);
      if (full?.hangs() !== true) {
        const later = await calls.take(WAIT_MS, ...names);
        if (later !== undefined) return { kind: 'taken', release: begin(names, later) };
      }
      return { kind: 'refused', turnInMs: (full ?? openCallsInFlight()).nextTurnMs() };
    },
    async runJob(payments) {
      const works = payments.map((payment) =>
        untilSlow(payment, slowCallMs, (work) => follow(work, running, { queue, logger })),
      );
      const ended = await Promise.allSettled(works);
      return ended.map((work) => {
        if (work.status === 'rejected') throw work.reason;
        return work.value;
      });
    },
    async close() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

/**
 * Resolves when the payment's work ends, or with undefined when its call is slow. From then on `continued` has the work.
 * Rejects when the work fails before that.
 */
async function untilSlow<T>(
  payment: (runCall: RunCall) => Promise<T>,
  slowCallMs: number,
  continued: (work: Promise<T>) => void,
): Promise<T | undefined> {
  const { promise: isSlow, resolve: giveBack } = withResolvers<'slow'>();
  const work = payment(async (call) => {
    const timer = setTimeout(giveBack, slowCallMs, 'slow');
    try {
      return await call();
    } finally {
      clearTimeout(timer);
    }
  });
  const ended = await Promise.race([work, isSlow]);
  if (ended !== 'slow') return ended;
  continued(work);
  return undefined;
}

/** Logs the failure of work whose job has ended, and keeps the work in `running`, for which `close` waits. */
function follow(
  work: Promise<unknown>,
  running: Set<Promise<unknown>>,
  { queue, logger }: { queue: JobName; logger: Logger },
): void {
  running.add(work);
  work
    .catch((error: unknown) => logger.error({ event: 'job.failed', queue, err: error }))
    .finally(() => running.delete(work));
}
