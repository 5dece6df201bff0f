interface Welcome {
  baseUrl: string;
  key: string;
  hasFacilitator: boolean;
}

/** What to do next, in lines that can be copied. */
export function welcome({ baseUrl, key, hasFacilitator }: Welcome): string {
  return `
  Stablecoin checkout is running at ${baseUrl}

  Test key        ${key}
  API document    ${baseUrl}/openapi.json

  Create a checkout session:

    curl ${baseUrl}/v1/checkout/sessions \\
      -u ${key}: \\
      -d 'line_items[0][price_data][product_data][name]=Coffee' \\
      -d 'line_items[0][price_data][unit_amount]=450'
${hasFacilitator ? '' : '\n  No FACILITATOR_URL is set: sessions can be created, and paying them is not possible yet.\n'}
  Ctrl-C stops everything; what you created is kept.

`;
}
