export interface Welcome {
  baseUrl: string;
  key: string;
  /** Undefined when it is turned off. */
  dashboard: string | undefined;
  /** An open payment link, when a sandbox runs to pay it. */
  link: string | undefined;
  /** Whether this process receives and prints the events. */
  printsWebhooks: boolean;
  /** How phones open the QR code of a payment page. */
  phones: string | undefined;
}

/** The next steps, in lines that can be copied. */
export function welcome({ baseUrl, key, dashboard, link, printsWebhooks, phones }: Welcome): string {
  const page = dashboard === undefined ? '' : `\n  Dashboard       ${dashboard}`;
  const webhooks = printsWebhooks
    ? '\n  Webhooks        printed here as they arrive, their signatures verified'
    : '';
  const qrCodes = phones === undefined ? '' : `\n  Phones          ${phones}`;
  return `
  Stablecoin checkout is running at ${baseUrl}

  Test key        ${key}${page}
  API reference   ${baseUrl}/docs
  For agents      ${baseUrl}/llms.txt
  Examples        export $(cat .data/examples.env) && node examples/stripe-sdk.mjs${webhooks}${qrCodes}
${link === undefined ? '' : payment(link)}
  Create a checkout session of your own:

    curl ${baseUrl}/v1/checkout/sessions \\
      -u ${key}: \\
      -d 'line_items[0][price_data][product_data][name]=Coffee' \\
      -d 'line_items[0][price_data][unit_amount]=450'

  Ctrl-C stops everything; what you created is kept.

`;
}

/**
 * The address of the dashboard. In the sandbox it signs in by itself: the page takes the test key out of the fragment,
 * which browsers do not send.
 */
export function dashboardAddress(baseUrl: string, sandboxKey: string | undefined): string {
  return `${baseUrl}/dashboard${sandboxKey === undefined ? '' : `#sign-in=${sandboxKey}`}`;
}

function payment(link: string): string {
  return `
  A payment link that waits for its buyer:

    ${link}

  Open it in a browser and pay with the sandbox wallet there: one click. Or pay it as an AI agent does, from another
  terminal. Chains, tokens and wallets are local and worth nothing:

    npm run pay -- ${link}
`;
}
