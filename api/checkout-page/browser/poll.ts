import type { LinkStatus } from '../page-data.js';
import { askStatus } from './ask-server.js';

/** Every change of the session is to show within 3 s. */
const VISIBLE_MS = 2000;
/** A page that nobody looks at asks less often, and at once when it is looked at again. */
const HIDDEN_MS = 10_000;
const MISSES_BEFORE_TROUBLE = 2;

export interface Polling {
  askNow(): void;
  stop(): void;
}

/** Away: the buyer is online, and we do not answer. */
export type Connection = 'there' | 'away' | 'offline';

interface PollingEvents {
  onStatus(status: LinkStatus): Promise<void>;
  onConnection(connection: Connection): void;
}

export function startPolling(path: string, events: PollingEvents): Polling {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let misses = 0;
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
      misses = 0;
      events.onConnection('there');
      await events.onStatus(status);
    } catch {
      misses += 1;
      if (!navigator.onLine) events.onConnection('offline');
      else if (misses >= MISSES_BEFORE_TROUBLE) events.onConnection('away');
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
