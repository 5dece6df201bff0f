import { Refusal } from '../errors/refusal.js';
import { MAX_TOTAL_CENTS } from '../values/money.js';

export const SESSION_STATUSES = ['open', 'processing', 'complete', 'expired'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** The merchant may filter lists by these. */
export const FILTERABLE_STATUSES = ['open', 'complete', 'expired'] as const;

/** Only late money, or an operator, moves it from there. */
export function isOver({ status }: { status: SessionStatus }): boolean {
  return status === 'complete' || status === 'expired';
}

/** Every move of a session and the statuses it may start from. */
export const SESSION_MOVES = {
  claim: { from: ['open'], to: 'processing' },
  complete: { from: ['open', 'processing', 'expired'], to: 'complete' },
  reopen: { from: ['processing'], to: 'open' },
  expire: { from: ['open'], to: 'expired' },
  expireAfterFailure: { from: ['processing'], to: 'expired' },
} as const satisfies Record<string, { from: readonly SessionStatus[]; to: SessionStatus }>;

/** In seconds. */
export interface Lifetime {
  shortest: number;
  longest: number;
  default: number;
  inWords: string;
}

export const SESSION_LIFETIME: Lifetime = {
  shortest: 30 * 60,
  longest: 24 * 3600,
  default: 24 * 3600,
  inWords: '30 minutes and 24 hours',
};
const LEEWAY_SECONDS = 10;

export interface LineItem {
  id: string;
  name: string;
  description: string | null;
  images: string[];
  unitAmountCents: number;
  quantity: number;
}

/** What a link says of the items without reading them. */
export interface ItemSummary {
  /** Of the first item; null where there is none. */
  name: string | null;
  quantity: number | null;
  /** How many more there are. */
  others: number;
  /** How long all of them are, about; unknown in rows that were written without. */
  characters?: number;
}

export function summarize(items: readonly Omit<LineItem, 'id'>[]): ItemSummary {
  const [first] = items;
  let characters = 0;
  for (const { name, description, images } of items) {
    characters += name.length + (description?.length ?? 0);
    for (const image of images) characters += image.length;
  }
  return {
    name: first?.name ?? null,
    quantity: first?.quantity ?? null,
    others: Math.max(items.length - 1, 0),
    characters,
  };
}

export function lineItemTotalCents(item: Pick<LineItem, 'unitAmountCents' | 'quantity'>): number {
  return item.unitAmountCents * item.quantity;
}

export function totalCents(items: readonly Pick<LineItem, 'unitAmountCents' | 'quantity'>[]): number {
  let total = 0;
  for (const item of items) {
    // One item is at most 99,999,999 × 999,999 cents, so a sum just above the limit is still exact enough to see.
    total += lineItemTotalCents(item);
    if (total > MAX_TOTAL_CENTS) {
      throw new Refusal('amount_too_large', `The total must be at most ${MAX_TOTAL_CENTS} cents.`, {
        param: 'line_items',
      });
    }
  }
  return total;
}

export function chooseExpiry(requestedSeconds: number | undefined, allowed: Lifetime, now: Date): Date {
  if (requestedSeconds === undefined) return new Date(now.getTime() + allowed.default * 1000);
  const lifetime = requestedSeconds - now.getTime() / 1000;
  if (lifetime < allowed.shortest - LEEWAY_SECONDS || lifetime > allowed.longest + LEEWAY_SECONDS) {
    throw new Refusal(
      'parameter_invalid_integer',
      `expires_at must be between ${allowed.inWords} from now, in Unix seconds; you sent ${requestedSeconds}.`,
      { param: 'expires_at' },
    );
  }
  return new Date(requestedSeconds * 1000);
}

/** `{CHECKOUT_SESSION_ID}` becomes the id; some clients percent-encode the braces. */
export function fillSessionId(url: string, sessionId: string): string {
  return url.replaceAll(/(?:\{|%7[Bb])CHECKOUT_SESSION_ID(?:\}|%7[Dd])/g, sessionId);
}
