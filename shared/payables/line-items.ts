import { Refusal } from '../errors/refusal.js';
import { MAX_TOTAL_CENTS } from '../values/money.js';

export interface LineItem {
  id: string;
  name: string;
  description: string | null;
  images: string[];
  unitAmountCents: number;
  quantity: number;
}

/** The facts about the items that a payment link shows, stored beside them so that the link does not read the items. */
export interface ItemSummary {
  /** The first item's name; null when there are no items. */
  name: string | null;
  /** The first item's quantity; null when there are no items. */
  quantity: number | null;
  /** The number of items after the first. */
  others: number;
  /** The approximate length of all items; missing in rows of older releases. */
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
    // One item is at most 99,999,999 × 999,999 cents, so the first sum above the limit is still below 2^53.
    total += lineItemTotalCents(item);
    if (total > MAX_TOTAL_CENTS) {
      throw new Refusal('amount_too_large', `The total must be at most ${MAX_TOTAL_CENTS} cents.`, {
        param: 'line_items',
      });
    }
  }
  return total;
}
