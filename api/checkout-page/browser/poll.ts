import type { LinkStatus } from '../page-data.js';
import { askStatus } from './ask-server.js';

/** A change of the session must show within 3 s. */
const VISIBLE_MS = 2000;
/** A hidden page polls less often, and at once when it is shown again. */
const HIDDEN_MS = 10_000;
const FAILURES_BEFORE_AWAY = 2;

export interface Polling {
  askNow(): void;
  stop(): void;
}

/** `away`: the buyer is online and the service does not answer. */
export type Connection = 'there' | 'away' | 'offline';

interface PollingEvents {
  onStatus(status: LinkStatus): Promise<void>;
  onConnection(connection: Connection): void;
}

export function startPolling(path: string, events: PollingEvents): Polling {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let isAsking = false;
  let isOver = false;
  let askAgain = false;

  async function ask(): Promise<void> {
    if (isAsking) {
      askAgain = true;
      return;
    }
    isAsking = true;
    clearTimeout(timer);
    if (navigator.onLine) await askServer();
    else events.onConnection('offline');
    isAsking = false;
    if (isOver) return;
    const wait = askAgain ? 0 : document.hidden ? HIDDEN_MS : VISIBLE_MS;
    askAgain = false;
    timer = setTimeout(() => void ask(), wait);
  }

  async function askServer(): Promise<void> {
    try {
      const status = await askStatus(path);
      failures = 0;
      events.onConnection('there');
      await events.onStatus(status);
    } catch {
      failures += 1;
      if (!navigator.onLine) events.onConnection('offline');
      else if (failures >= FAILURES_BEFORE_AWAY) events.onConnection('away');
    }
  }

  const askNow = (): void => {
    if (!isOver) void ask();
  };
  const onVisible = (): void => {
    if (!document.hidden) askNow();
  };
  document.addEventListener('visibilitychange', onVisible);
  window.addEventListener('online', askNow);
  window.addEventListener('offline', () => {
    if (!isOver) events.onConnection('offline');
  });
  timer = setTimeout(() => void ask(), VISIBLE_MS);
  return {
    askNow,
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
