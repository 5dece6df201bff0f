export const API_VERSION = '2026-10-15';

export const EVENT_TYPES = ['checkout.session.completed', 'checkout.session.expired'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** What an endpoint may subscribe to; `*` is every type, also later ones. */
export const SUBSCRIBABLE_EVENTS = [...EVENT_TYPES, '*'] as const;
export type SubscribableEvent = (typeof SUBSCRIBABLE_EVENTS)[number];

export const ENDPOINT_STATUSES = ['enabled', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** A guard, not a product limit. */
export const MAX_ENDPOINTS_PER_MODE = 1000;
