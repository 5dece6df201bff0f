export const API_VERSION = '2026-10-15';

export const EVENT_TYPES = [
  'checkout.session.completed',
  'checkout.session.expired',
  'refund.created',
  'refund.updated',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The values of `enabled_events`. `*` stands for every type, including types of later releases. */
export const SUBSCRIBABLE_EVENTS = [...EVENT_TYPES, '*'] as const;
export type SubscribableEvent = (typeof SUBSCRIBABLE_EVENTS)[number];
