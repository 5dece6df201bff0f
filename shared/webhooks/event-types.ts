export const API_VERSION = '2026-10-15';

export const EVENT_TYPES = [
  'checkout.session.completed',
  'checkout.session.expired',
  'refund.created',
  'refund.updated',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** What an endpoint may subscribe to; `*` is every type, also later ones. */
export const SUBSCRIBABLE_EVENTS = [...EVENT_TYPES, '*'] as const;
export type SubscribableEvent = (typeof SUBSCRIBABLE_EVENTS)[number];

export const ENDPOINT_STATUSES = ['enabled', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'dropped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** `drop`: the endpoint was deleted. `giveUp`: every try was used up. */
export const DELIVERY_MOVES = {
  succeed: { from: ['pending'], to: 'succeeded' },
  giveUp: { from: ['pending'], to: 'failed' },
  drop: { from: ['pending'], to: 'dropped' },
} as const satisfies Record<string, { from: readonly DeliveryStatus[]; to: DeliveryStatus }>;

/** A try of 10 s and 1 s for the body is over by then, its writing included; another worker may take the row after it. */
export const LEASE_MS = 41_000;

/** One try, as it is kept: what was answered, or why nothing was. */
export interface DeliveryTry {
  at: string;
  durationMs: number;
  status: number | null;
  error: string | null;
  /** The start of the answer's body. */
  answer: string | null;
}

/**
 * Slots of one endpoint: how many deliveries to it may be in flight, over all workers. A new endpoint has the least. The
 * number doubles after a round of quick successes, and is halved by a slow answer or a failure. A failing endpoint gets few,
 * so that many that hang leave room for the others.
 */
export const LEAST_SLOTS = 10;
export const MOST_SLOTS = 50;
export const SLOTS_WHILE_FAILING = 2;
