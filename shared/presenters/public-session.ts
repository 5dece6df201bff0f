import { lineItemTotalCents } from '../domain/checkout-session.js';
import type { Account } from '../models/account.js';
import type { CheckoutSession } from '../models/checkout-session.js';
import { presentPayment } from './payment.js';
import { unixSeconds } from './timestamp.js';

/** What buyers see: nothing that is only the merchant's (metadata, reference, customer e-mail). */
export function presentPublicSession(session: CheckoutSession, account: Account, now: Date): object {
  const isOver = session.status === 'open' && session.expiresAt <= now;
  return {
    id: session.id,
    status: isOver ? 'expired' : session.status,
    payment_status: session.status === 'complete' ? 'paid' : 'unpaid',
    livemode: session.livemode,
    merchant: {
      name: account.name,
      logo_url: account.logoUrl,
      brand_color: account.brandColor,
      support_email: account.supportEmail,
    },
    line_items: (session.lineItems ?? []).map((item) => ({
      name: item.name,
      description: item.description,
      images: item.images,
      unit_amount: item.unitAmountCents,
      quantity: item.quantity,
      amount_total: lineItemTotalCents(item),
    })),
    amount_total: session.amountTotalCents,
    currency: 'usd',
    expires_at: unixSeconds(session.expiresAt),
    success_url: session.successUrl,
    cancel_url: session.cancelUrl,
    accepts: { evm: account.evmWallet !== null, svm: account.solanaWallet !== null },
    payment: session.status === 'complete' && session.payment ? presentPayment(session.payment) : null,
  };
}
