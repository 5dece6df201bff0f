import { setTimeout as sleep } from 'node:timers/promises';
import { type EventsApi, type ListedEvent, Unavailable } from './events-api.js';

/**
 * Follows the list of events. An event's id has the time at which it was made, and the event is listed once its transaction
 * is committed, so it may appear behind younger events. Every look reads the newest page; every few seconds a whole look
 * reads all events of the minutes before the last whole look. The ids of these events are remembered, so no event comes
 * twice; and after an outage, however long, the next whole look begins before it.
 */
interface Follower {
  api: EventsApi;
  signal: AbortSignal;
  /** Called one at a time, in the order of the ids. An error that is thrown here ends the following. */
  onEvent(event: ListedEvent, text: string): Promise<void>;
  onBegin(): void;
  onUnavailable(why: string): void;
  onAvailable(): void;
  times?: FollowTimes;
}

export interface FollowTimes {
  pauseMs: number;
  wholeLookMs: number;
  longestPauseMs: number;
  /** How long an event may take from its id to its commit, with the differences between clocks. */
  overlapSeconds: number;
}

const TIMES: FollowTimes = {
  pauseMs: 1000,
  wholeLookMs: 10_000,
  longestPauseMs: 10_000,
  overlapSeconds: 300,
};

export async function follow({ times = TIMES, ...follower }: Follower): Promise<void> {
  const { api, signal } = follower;
  const seen = new Map<string, number>();
  let since = 0;
  /** When the newest listed event was made; undefined while there is none. */
  let newest: number | undefined;
  let wholeLookAtMs = Number.NEGATIVE_INFINITY;

  const forget = (): void => {
    for (const [id, created] of seen) if (created < since) seen.delete(id);
  };

  /** The answer's clock and that of the ids may differ: the earlier one leaves out no event that is still to come. */
  const moveOn = (at: number): void => {
    if (newest !== undefined) since = Math.max(since, Math.min(at, newest) - times.overlapSeconds);
  };

  /** Events that the first look finds are older than this command, and are not forwarded. */
  async function begin(): Promise<void> {
    const { events, at } = await api.list(0, undefined);
    newest = events[0]?.created;
    moveOn(at);
    for (const { id, created } of (await look({ isWhole: true })).events) seen.set(id, created);
  }

  async function look({ isWhole }: { isWhole: boolean }): Promise<{ events: ListedEvent[]; at: number }> {
    const found: ListedEvent[] = [];
    let at: number | undefined;
    for (let after: string | undefined; ; ) {
      const page = await api.list(since, after);
      at ??= page.at;
      const fresh = page.events.filter(({ id }) => !seen.has(id));
      found.push(...fresh);
      after = page.events.at(-1)?.id;
      const mayHoldMore = isWhole || fresh.length === page.events.length;
      if (!page.hasMore || !mayHoldMore) return { events: found, at };
    }
  }

  async function pass(): Promise<void> {
    const isWhole = performance.now() - wholeLookAtMs >= times.wholeLookMs;
    const { events, at } = await look({ isWhole });
    events.sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const event of events) {
      if (seen.has(event.id)) continue;
      const text = await api.textOf(event.id);
      seen.set(event.id, event.created);
      newest = Math.max(newest ?? 0, event.created);
      await follower.onEvent(event, text);
      if (signal.aborted) return;
    }
    if (!isWhole) return;
    wholeLookAtMs = performance.now();
    moveOn(at);
    forget();
  }

  const retry = retrier(follower, times);
  await retry(begin);
  if (!signal.aborted) follower.onBegin();
  while (!signal.aborted) {
    await retry(pass);
    await pause(times.pauseMs, signal);
  }
}

/** Repeats work that fails while the service is away, with growing pauses. */
function retrier(
  { signal, onUnavailable, onAvailable }: Omit<Follower, 'times'>,
  { pauseMs, longestPauseMs }: FollowTimes,
): (work: () => Promise<void>) => Promise<void> {
  return async (work) => {
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        await work();
        if (failures > 0) onAvailable();
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof Unavailable)) throw error;
        if (failures === 0) onUnavailable(error.message);
        await pause(error.retryAfterMs ?? Math.min(pauseMs * 2 ** failures, longestPauseMs), signal);
      }
    }
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
