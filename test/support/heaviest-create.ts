/** The largest create request: each field at its maximum, in ASCII. */
export function heaviestCreate(): object {
  const url = (length: number, end: string): string =>
    `https://img.example/${'p'.repeat(length - 20 - end.length)}${end}`;
  const item = (index: number): object => ({
    quantity: 999_999,
    price_data: {
      currency: 'usd',
      unit_amount: 999_999,
      product_data: {
        name: `${index}`.padStart(250, 'n'),
        description: `${index}`.padStart(500, 'd'),
        images: Array.from({ length: 8 }, (_, image) => url(2048, `/${index}/${image}`)),
      },
    },
  });
  return {
    mode: 'payment',
    line_items: Array.from({ length: 100 }, (_, index) => item(index)),
    success_url: url(5000, '{CHECKOUT_SESSION_ID}'),
    cancel_url: url(5000, '/back'),
    client_reference_id: 'r'.repeat(200),
    customer_email: `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`.slice(
      -254,
    ),
    metadata: Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`${index}`.padStart(40, 'k'), 'v'.repeat(500)]),
    ),
    payment_method_types: ['crypto'],
    expand: ['line_items'],
  };
}
