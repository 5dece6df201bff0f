import { type Api, ApiError } from '../api/client.js';
import type { Delivery, DeliveryTry, List } from '../api/objects.js';
import type { Query } from '../state/route.js';

export function hasFailed({ status }: DeliveryTry): boolean {
  return status === null || status < 200 || status >= 300;
}

/** "answered 500 after 0.2 s" or "no answer: timeout". */
export function answerInWords({ status, error, duration_ms: durationMs }: DeliveryTry): string {
  const seconds = `${(durationMs / 1000).toFixed(1)} s`;
  return status === null
    ? `no answer (${error ?? 'unknown'}) after ${seconds}`
    : `answered ${status} after ${seconds}`;
}

/** The state of an endpoint, by its newest deliveries. */
export interface Health {
  /** Tries that ended, and how many of them succeeded. */
  tries: number;
  succeeded: number;
  /** The newest try of all, and the newest that failed. */
  last: DeliveryTry | undefined;
  lastFailed: DeliveryTry | undefined;
  /** The newest try failed: the next events are likely to fail, too. */
  isFailing: boolean;
}

const NOT_THERE = 404;

export function deliveriesPath(endpointId: string): string {
  return `/v1/webhook_endpoints/${encodeURIComponent(endpointId)}/deliveries`;
}

/** A page of the deliveries to an endpoint, the newest first. */
export async function listDeliveries(api: Api, endpointId: string, query: Query): Promise<List<Delivery>> {
  return await api.get(deliveriesPath(endpointId), query);
}

/** The newest deliveries to an endpoint of a list; none when it was deleted since the list was read. */
export async function newestDeliveries(api: Api, endpointId: string, limit: string): Promise<Delivery[]> {
  try {
    return (await listDeliveries(api, endpointId, { limit })).data;
  } catch (error) {
    if (error instanceof ApiError && error.status === NOT_THERE) return [];
    throw error;
  }
}

export function healthOf(deliveries: readonly Delivery[]): Health {
  const tries = deliveries.flatMap((delivery) => delivery.tries).sort((a, b) => b.at - a.at);
  const [last] = tries;
  return {
    tries: tries.length,
    succeeded: tries.filter((one) => !hasFailed(one)).length,
    last,
    lastFailed: tries.find(hasFailed),
    isFailing: last !== undefined && hasFailed(last),
  };
}

/** The events to send again to an endpoint. */
export interface ResendBatch {
  events: string[];
  /** The endpoint has more deliveries than this screen reads. */
  isCut: boolean;
}

const DAY_SECONDS = 86_400;
/** The time from the first to the last try of a delivery. */
const LONGEST_TRYING_SECONDS = 76 * 3600;
const PAGES = 10;
const PAGE_SIZE = '100';

/**
 * The events whose newest delivery to this endpoint failed in the last day, oldest first. A delivery that was made
 * since, by a resend too, takes its event off the list, so that asking twice sends nothing twice.
 */
export async function failedOfLastDay(api: Api, endpointId: string, now: number): Promise<ResendBatch> {
  const seen = new Set<string>();
  const events: string[] = [];
  let after: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const query = { limit: PAGE_SIZE, starting_after: after };
    const { data, has_more: hasMore } = await listDeliveries(api, endpointId, query);
    for (const delivery of data) {
      if (seen.has(delivery.event)) continue;
      seen.add(delivery.event);
      const last = delivery.tries.at(-1);
      const isLate = last !== undefined && hasFailed(last) && last.at >= now - DAY_SECONDS;
      if (isLate && delivery.status !== 'dropped') events.push(delivery.event);
    }
    const oldest = data.at(-1);
    const isTooOld = (oldest?.created ?? 0) < now - DAY_SECONDS - LONGEST_TRYING_SECONDS;
    if (!hasMore || isTooOld) return { events: events.reverse(), isCut: false };
    after = oldest?.id;
  }
  return { events: events.reverse(), isCut: true };
}
