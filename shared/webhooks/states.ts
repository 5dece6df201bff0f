export const ENDPOINT_STATUSES = ['enabled', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'dropped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** `drop`: the endpoint was deleted. `giveUp`: the last try failed. */
export const DELIVERY_MOVES = {
  succeed: { from: ['pending'], to: 'succeeded' },
  giveUp: { from: ['pending'], to: 'failed' },
  drop: { from: ['pending'], to: 'dropped' },
} as const satisfies Record<string, { from: readonly DeliveryStatus[]; to: DeliveryStatus }>;

/** One try in the history of a delivery. */
export interface DeliveryTry {
  at: string;
  durationMs: number;
  /** The HTTP status of the answer; null when there was no answer. */
  status: number | null;
  /** Why there was no answer. */
  error: string | null;
  /** The start of the answer's body. */
  answer: string | null;
}
