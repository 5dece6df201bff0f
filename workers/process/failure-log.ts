import type { Logger } from '../../shared/process/logger.js';

/** The same failure is logged again after this time. */
const AGAIN_MS = 60_000;
/** Work has a few statements, and an unavailable Postgres a few reasons. */
const MESSAGES_KEPT = 20;

/**
 * Logs the failures of work that is repeated every second or every few: during an outage a line for each message and minute,
 * not one for each attempt.
 */
export interface FailureLog {
  failed(error: unknown): void;
  succeeded(): void;
}

export function openFailureLog(
  logger: Pick<Logger, 'error' | 'warn'>,
  event: string,
  level: 'error' | 'warn' = 'error',
): FailureLog {
  const loggedAtMs = new Map<string, number>();
  return {
    failed(error) {
      const message = error instanceof Error ? error.message : String(error);
      const lastMs = loggedAtMs.get(message);
      if (lastMs !== undefined && performance.now() - lastMs < AGAIN_MS) return;
      if (lastMs === undefined && loggedAtMs.size >= MESSAGES_KEPT) loggedAtMs.clear();
      loggedAtMs.set(message, performance.now());
      logger[level]({ event, err: error });
    },
    succeeded() {
      loggedAtMs.clear();
    },
  };
}
