import type { LinkedSession } from '../../shared/services/payment-links.js';
import type { PaymentRequirements } from '../../shared/x402/wire.js';
import { stockClientAdvice } from './stock-clients.js';

/** So that a PAYMENT-REQUIRED of as many entries as there can be stays below what common proxies allow. */
const MAX_NAME_LENGTH = 60;

/**
 * What an agent reads before it pays: to whom, for what, how much, until when, and what its client has to be told. The
 * same for as long as the session can be paid, and nothing that is only the merchant's.
 */
export function describePayment(session: LinkedSession, accepts: readonly PaymentRequirements[]): string {
  const dollars = formatDollars(session.amountTotalCents);
  const merchant = cut(session.account.name);
  const advice = stockClientAdvice(session.amountTotalCents, dollars, accepts);
  const payment = `${dollars} to ${merchant}${describeItems(session)}, payable until ${formatTime(session.expiresAt)}.`;
  return advice === undefined ? payment : `${payment} ${advice}`;
}

function describeItems({ lineItems = [] }: LinkedSession): string {
  const [first, ...others] = lineItems;
  if (first === undefined) return '';
  const count = first.quantity === 1 ? '' : `${first.quantity} × `;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return ` for ${count}${cut(first.name)}${more}`;
}

function formatDollars(cents: number): string {
  return `$${Math.floor(cents / 100)}.${`${cents % 100}`.padStart(2, '0')}`;
}

function formatTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

/** One line, cut between characters, never inside one. */
function cut(name: string): string {
  const line = name.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  if (line.length <= MAX_NAME_LENGTH) return line;
  const characters = [...line];
  return characters.length <= MAX_NAME_LENGTH
    ? line
    : `${characters.slice(0, MAX_NAME_LENGTH - 1).join('')}…`;
}
