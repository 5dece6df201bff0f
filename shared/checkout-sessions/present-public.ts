import type { Account } from '../accounts/model.js';
import type { Payable } from '../payables/model.js';
import { type PayableStatus, paidBy } from '../payables/states.js';
import { presentPayment, type WirePayment } from '../payments/present.js';
import { fieldsBy, PUBLIC_FIELDS, type PublicName } from '../session-fields/fields.js';
import { mayHideText, visibleText } from '../values/visible-text.js';
import { unixSeconds } from '../wire/timestamp.js';

export interface PublicMerchant {
  name: string;
  logo_url: string | null;
  brand_color: string | null;
  support_email: string | null;
}

type PublicFields = Record<PublicName, string | null>;

/** PublicCheckoutSession without line items. */
export interface PublicSession extends PublicFields {
  id: string;
  status: PayableStatus;
  payment_status: 'paid' | 'unpaid';
  livemode: boolean;
  merchant: PublicMerchant;
  amount_total: number;
  currency: 'usd';
  expires_at: number;
  accepts: { evm: boolean; svm: boolean };
  payment: WirePayment | null;
}

/** A line item on the checkout page. */
export interface ShownItem {
  name: string;
  description: string | null;
  image_count: number;
  unit_amount: number;
  quantity: number;
  amount_total: number;
}

/** The buyer's view of a session: its only merchant fields are PUBLIC_FIELDS. */
export function presentPublicSession(session: Payable, account: Account, now: Date): PublicSession {
  const isOver = session.status === 'open' && session.expiresAt <= now;
  const payment = paidBy(session);
  return {
    id: session.id,
    status: isOver ? 'expired' : session.status,
    payment_status: session.status === 'complete' ? 'paid' : 'unpaid',
    livemode: session.livemode,
    merchant: presentMerchant(account),
    amount_total: session.amountTotalCents,
    currency: 'usd',
    expires_at: unixSeconds(session.expiresAt),
    ...publicFields(session),
    accepts: { evm: account.evmWallet !== null, svm: account.solanaWallet !== null },
    payment: payment && presentPayment(payment),
  };
}

const BLANK = fieldsBy('name', PUBLIC_FIELDS, (): string | null => null);

function publicFields(session: Payable): PublicFields {
  const shown = { ...BLANK };
  for (const { name, property } of PUBLIC_FIELDS) shown[name] = session[property];
  return shown;
}

export function presentMerchant({ name, logoUrl, brandColor, supportEmail }: Account): PublicMerchant {
  return {
    name: visibleText(name),
    logo_url: logoUrl,
    brand_color: brandColor,
    support_email: supportEmail,
  };
}

/** PublicCheckoutSession. `lineItems` is JSON already: parsing long items only to print them again would be slow. */
export function renderPublicSession(session: PublicSession, lineItems: string): string {
  return `${JSON.stringify(session).slice(0, -1)},"line_items":${visibleItems(lineItems)}}`;
}

/** Parses the items only when they hold text to make visible. */
function visibleItems(json: string): string {
  if (!mayHideText(json)) return json;
  const items: Pick<ShownItem, 'name' | 'description'>[] = JSON.parse(json);
  return JSON.stringify(items.map(visibleItem));
}

export function visibleItem<Item extends Pick<ShownItem, 'name' | 'description'>>(item: Item): Item {
  const { name, description } = item;
  return {
    ...item,
    name: visibleText(name),
    description: description === null ? null : visibleText(description),
  };
}
