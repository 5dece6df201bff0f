import type { Knex } from '../../shared/db/knex.js';
import { listDecided } from '../../shared/payments/find.js';
import type { Logger } from '../../shared/process/logger.js';
import { waitAtMost } from '../../shared/process/timeout.js';
import type { SubscribeToDecisions } from '../../shared/queues/decision-notifier.js';

/**
 * Lets requests wait for the outcomes of their payments. While a request waits, one query per tick asks for all
 * waiting payments, so no request holds a connection and a lost notification only costs one tick. A notification
 * may wake a request before the tick. A woken request reads the row itself.
 */
export interface SettlementWatch {
  /** Resolves when the payment is decided, at the deadline, or when the process stops. */
  wait(paymentId: string, timeoutMs: number): Promise<void>;
  close(): void;
}

const TICK_MS = 20;
const STUCK_AFTER_MS = 1000;
/** With notifications connected, ticks only make up for lost ones. */
const TICK_WITH_NOTIFICATIONS_MS = 100;
/** Notifications kept for requests that are about to wait: a payment may be decided before its request waits. */
const EARLY_NOTIFICATIONS = 1000;

export function watchSettlements(db: Knex, logger: Logger, subscribe: SubscribeToDecisions): SettlementWatch {
  const waiters = new Map<string, Set<() => void>>();
  let ticking = false;
  let closed = false;

  async function tick(): Promise<void> {
    try {
      const asked = listDecided(db, [...waiters.keys()]).then((decided) => decided.forEach(wake));
      // The statement may be stuck on a dead connection; the next tick's goes out by another.
      await waitAtMost(STUCK_AFTER_MS, asked);
    } catch (error) {
      logger.warn({ event: 'settlement_watch.failed', err: error });
    }
    if (waiters.size > 0) tickLater();
    else ticking = false;
  }

  function tickLater(): void {
    setTimeout(() => void tick(), notifications.isOn() ? TICK_WITH_NOTIFICATIONS_MS : TICK_MS);
  }

  function wake(id: string): void {
    for (const resolve of waiters.get(id) ?? []) resolve();
  }

  const early = new Set<string>();
  const notifications = subscribe((id) => {
    if (waiters.has(id)) return wake(id);
    early.add(id);
    const [oldest] = early;
    if (oldest !== undefined && early.size > EARLY_NOTIFICATIONS) early.delete(oldest);
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
      notifications.stop();
      for (const id of [...waiters.keys()]) wake(id);
    },
  };
}
