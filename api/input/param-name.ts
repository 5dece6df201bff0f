/** Names a parameter as Stripe does: `line_items[0][price_data][unit_amount]`. Cut, since it may be hostile. */
export function paramName(path: readonly string[]): string {
  const [first = '', ...rest] = path;
  return (first + rest.map((part) => `[${part}]`).join('')).slice(0, 300);
}
