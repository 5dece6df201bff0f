import type { Payable } from '../payables/model.js';
import { paymentLinkUrl } from '../payables/payment-link-url.js';
import { isOver, type PayableStatus, paidBy } from '../payables/states.js';
import { presentPayment, type WirePayment } from '../payments/present.js';
import {
  fieldsBy,
  inWireOrder,
  SESSION_FIELDS,
  type ShownFields,
  TEXT_FIELDS,
} from '../session-fields/fields.js';
import type { WireList } from '../wire/list.js';
import { createdSeconds, unixSeconds } from '../wire/timestamp.js';
import { presentLineItems, renderLineItems } from './present-line-items.js';

/** The input of the wire form of a session besides its row. */
interface SessionView {
  baseUrl: string;
  expand: readonly 'line_items'[];
}

/** The properties that `presentCheckoutSession` reads, except line items; and the account's id. */
export const SHOWN_SESSION_FIELDS = [
  'id',
  'accountId',
  'livemode',
  'status',
  'amountTotalCents',
  ...SESSION_FIELDS.map(({ property }) => property),
] as const satisfies (keyof Payable)[];

type WireSession = ShownFields & {
  id: string;
  object: 'checkout.session';
  amount_subtotal: number;
  amount_total: number;
  created: number;
  currency: 'usd';
  livemode: boolean;
  mode: 'payment';
  payment_method_types: readonly 'crypto'[];
  payment_status: 'paid' | 'unpaid';
  status: PayableStatus;
  url: string | null;
  payment: WirePayment | null;
  line_items?: WireList<object>;
};

/** The fields are sorted once, at start: each presented session begins as a copy of this one. */
const BLANK = inWireOrder({
  ...fieldsBy('name', SESSION_FIELDS, () => null),
  id: null,
  object: 'checkout.session',
  amount_subtotal: null,
  amount_total: null,
  created: null,
  currency: 'usd',
  livemode: null,
  mode: 'payment',
  payment_method_types: ['crypto'],
  payment_status: null,
  status: null,
  url: null,
  payment: null,
} as const);

export function presentCheckoutSession(session: Payable, { baseUrl, expand }: SessionView): object {
  const payment = paidBy(session);
  const shown: WireSession = {
    ...BLANK,
    id: session.id,
    amount_subtotal: session.amountTotalCents,
    amount_total: session.amountTotalCents,
    created: createdSeconds(session.id),
    expires_at: unixSeconds(session.expiresAt),
    livemode: session.livemode,
    metadata: session.metadata,
    payment_status: session.status === 'complete' ? 'paid' : 'unpaid',
    status: session.status,
    url: isOver(session) ? null : paymentLinkUrl(session.id, baseUrl),
    payment: payment && presentPayment(payment),
  };
  for (const { name, property } of TEXT_FIELDS) shown[name] = session[property];
  if (expand.includes('line_items')) shown.line_items = presentLineItems(session.id, session.lineItems ?? []);
  return shown;
}

/** The text of `presentCheckoutSession`. Line items are rendered one by one, since they may be long; they come last. */
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
