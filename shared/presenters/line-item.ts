import { type LineItem, lineItemTotalCents } from '../domain/checkout-session.js';
import { presentList, type WireList } from './list.js';

export function presentLineItem(item: LineItem): object {
  return {
    id: item.id,
    object: 'item',
    amount_subtotal: lineItemTotalCents(item),
    amount_total: lineItemTotalCents(item),
    currency: 'usd',
    description: item.name,
    quantity: item.quantity,
    price: {
      object: 'price',
      currency: 'usd',
      unit_amount: item.unitAmountCents,
      product_data: { name: item.name, description: item.description, images: item.images },
    },
  };
}

export function presentLineItems(
  sessionId: string,
  items: readonly LineItem[],
  hasMore = false,
): WireList<object> {
  return presentList(`/v1/checkout/sessions/${sessionId}/line_items`, items.map(presentLineItem), hasMore);
}
