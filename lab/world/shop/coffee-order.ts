/** The body of a request for a session, before it is JSON. */
export function coffeeOrder(cents = 450): object {
  return { line_items: [{ price_data: { unit_amount: cents, product_data: { name: 'Coffee' } } }] };
}
