import type { Knex } from '../../shared/db/knex.js';
import type { Logger } from '../../shared/process/logger.js';
import type { SubscribeToDecisions } from '../../shared/queues/decision-notifier.js';
import { listDecided } from '../../shared/settlement/read-link.js';

/**
 * Lets requests wait for their payments' outcomes. One query a tick asks for all of them, and only while someone
 * waits: no request holds a connection, and no event can be lost. A bell may ring before the tick. Whatever wakes a
 * waiter, it reads the row itself.
 */
export interface SettlementWatch {
  /** Resolves when the payment is decided, at the deadline, or when the process stops. */
  wait(paymentId: string, timeoutMs: number): Promise<void>;
  close(): void;
}

const TICK_MS = 20;
/** While a bell can be heard, looks only make up for what it missed. */
const TICK_WITH_BELL_MS = 100;
/** Rings that are kept for who is about to wait: an outcome may be there before its buyer has begun to. */
const EARLY_RINGS = 1000;

export function watchSettlements(
  db: Knex,
  logger: Logger,
  subscribeToDecisions: SubscribeToDecisions,
): SettlementWatch {
  const waiters = new Map<string, Set<() => void>>();
  let ticking = false;
  let closed = false;

  async function tick(): Promise<void> {
    try {
      for (const id of await listDecided(db, [...waiters.keys()])) wake(id);
    } catch (error) {
      logger.warn({ event: 'settlement_watch.failed', err: error });
    }
    if (waiters.size > 0) tickLater();
    else ticking = false;
  }

  function tickLater(): void {
    setTimeout(() => void tick(), bell.isOn() ? TICK_WITH_BELL_MS : TICK_MS);
  }

  function wake(id: string): void {
    for (const resolve of waiters.get(id) ?? []) resolve();
  }

  const early = new Set<string>();
  const bell = subscribeToDecisions((id) => {
    if (waiters.has(id)) return wake(id);
    early.add(id);
    const [oldest] = early;
    if (oldest !== undefined && early.size > EARLY_RINGS) early.delete(oldest);
  });
  return {
    wait(paymentId, timeoutMs) {
      if (closed || timeoutMs <= 0 || early.delete(paymentId)) return Promise.resolve();
      return new Promise((resolve) => {
        const finish = (): void => {
          clearTimeout(timer);
          const others = waiters.get(paymentId);
          others?.delete(finish);
          if (others?.size === 0) waiters.delete(paymentId);
          resolve();
        };
        const timer = setTimeout(finish, timeoutMs);
        const others = waiters.get(paymentId) ?? new Set();
        waiters.set(paymentId, others.add(finish));
        if (!ticking) {
          ticking = true;
          tickLater();
        }
      });
    },
    close() {
      closed = true;
      bell.stop();
      for (const id of [...waiters.keys()]) wake(id);
    },
  };
}
