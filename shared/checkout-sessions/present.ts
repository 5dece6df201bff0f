import type { Payable } from '../payables/model.js';
import { presentPayment } from '../payments/present.js';
import { createdSeconds, unixSeconds } from '../wire/timestamp.js';
import { presentLineItems, renderLineItems } from './present-line-items.js';

/** What of a session is shown beyond its own columns. */
export interface SessionView {
  baseUrl: string;
  expand: readonly 'line_items'[];
}

/** What `presentCheckoutSession` reads of a session's own columns, but for its line items; and whose it is. */
export const SHOWN_SESSION_FIELDS = [
  'id',
  'accountId',
  'livemode',
  'status',
  'amountTotalCents',
  'metadata',
  'successUrl',
  'cancelUrl',
  'clientReferenceId',
  'customerEmail',
  'expiresAt',
] as const satisfies (keyof Payable)[];

export function presentCheckoutSession(session: Payable, { baseUrl, expand }: SessionView): object {
  const payable = session.status === 'open' || session.status === 'processing';
  return {
    id: session.id,
    object: 'checkout.session',
    amount_subtotal: session.amountTotalCents,
    amount_total: session.amountTotalCents,
    cancel_url: session.cancelUrl,
    client_reference_id: session.clientReferenceId,
    created: createdSeconds(session.id),
    currency: 'usd',
    customer_email: session.customerEmail,
    expires_at: unixSeconds(session.expiresAt),
    livemode: session.livemode,
    metadata: session.metadata,
    mode: 'payment',
    payment_method_types: ['crypto'],
    payment_status: session.status === 'complete' ? 'paid' : 'unpaid',
    status: session.status,
    success_url: session.successUrl,
    url: payable ? sessionUrl(session.id, baseUrl) : null,
    payment: session.status === 'complete' && session.payment ? presentPayment(session.payment) : null,
    ...(expand.includes('line_items') && {
      line_items: presentLineItems(session.id, session.lineItems ?? []),
    }),
  };
}

/** The same as text, its line items one by one: they may be heavy, and come last. */
export function* renderCheckoutSession(session: Payable, { baseUrl, expand }: SessionView): Iterable<string> {
  const text = JSON.stringify(presentCheckoutSession(session, { baseUrl, expand: [] }));
  if (!expand.includes('line_items')) {
    yield text;
    return;
  }
  yield `${text.slice(0, -1)},"line_items":`;
  yield* renderLineItems(session.id, session.lineItems ?? []);
  yield '}';
}

/** The one link that people and agents pay. */
export function sessionUrl(sessionId: string, baseUrl: string): string {
  return `${baseUrl}/c/${sessionId}`;
}
