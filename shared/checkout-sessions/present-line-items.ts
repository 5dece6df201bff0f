import { type LineItem, lineItemTotalCents } from '../payables/line-items.js';
import { presentList, renderObjects, textOfList, type WireList } from '../wire/list.js';

function presentLineItem(item: LineItem): object {
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
  return presentList(lineItemsUrl(sessionId), items.map(presentLineItem), hasMore);
}

/** The text of `presentLineItems`, rendered item by item: 100 items may be long. */
export function renderLineItems(
  sessionId: string,
  items: readonly LineItem[],
  hasMore = false,
): Iterable<string> {
  return renderObjects(renderEach(items), textOfList(lineItemsUrl(sessionId), hasMore));
}

function* renderEach(items: readonly LineItem[]): Iterable<[string]> {
  for (const item of items) yield [JSON.stringify(presentLineItem(item))];
}

function lineItemsUrl(sessionId: string): string {
  return `/v1/checkout/sessions/${sessionId}/line_items`;
}
