import { findPrincipal } from '../../shared/accounts/api-keys.js';
import { createCheckoutSession } from '../../shared/checkout-sessions/create.js';
import type { Knex } from '../../shared/db/knex.js';
import { paymentLinkUrl } from '../../shared/payables/payment-link-url.js';

interface DemoOrder {
  testKey: string;
  baseUrl: string;
  /** The URL of the item's picture, when the service may fetch it. */
  picture: string | undefined;
}

/**
 * Creates an open session and returns its payment link. It is not created over the API, which takes pictures at https
 * only: the sandbox has no certificate.
 */
export async function createDemoSession(db: Knex, { testKey, baseUrl, picture }: DemoOrder): Promise<string> {
  const images = picture === undefined ? [] : [picture];
  const session = {
    items: [{ name: 'Coffee', description: null, images, unitAmountCents: 450, quantity: 1 }],
    successUrl: null,
    cancelUrl: null,
    clientReferenceId: null,
    customerEmail: null,
    metadata: {},
    expiresAtSeconds: undefined,
  };
  return await createCheckoutSession(db, await findPrincipal(db, testKey), session, {
    idempotent: undefined,
    render: ({ id }) => paymentLinkUrl(id, baseUrl),
  });
}
