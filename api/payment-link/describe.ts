import type { LinkedSession } from '../../shared/settlement/read-link.js';
import { visibleText } from '../../shared/values/visible-text.js';
import type { PaymentRequirements } from '../../shared/x402/wire.js';
import { stockClientAdvice } from './stock-clients.js';

/** So that a PAYMENT-REQUIRED of as many entries as there can be stays below what common proxies allow. */
const MAX_NAME_BYTES = 80;
const ELLIPSIS = '…';

/**
 * What an agent reads before it pays: to whom, for what, how much, until when, and what its client has to be told. The
 * same for as long as the session can be paid, and nothing that is only the merchant's.
 */
export function describePayment(session: LinkedSession, accepts: readonly PaymentRequirements[]): string {
  const dollars = formatDollars(session.amountTotalCents);
  const merchant = cut(session.account.name);
  const { refund } = session;
  const advice = stockClientAdvice(session.amountTotalCents, dollars, accepts);
  const what =
    refund == null
      ? `${dollars} to ${merchant}${describeItems(session)}`
      : `Refund of ${dollars} by ${merchant} to ${refund.payTo}, who paid for ${cut(refund.reference ?? refund.checkoutSession)}`;
  const payment = `${what}, payable until ${formatTime(session.expiresAt)}.`;
  return advice === undefined ? payment : `${payment} ${advice}`;
}

function describeItems({ summary }: LinkedSession): string {
  if (summary?.name == null) return '';
  const { quantity, others } = summary;
  const name = cut(summary.name);
  if (name === '') return '';
  const count = quantity === null || quantity === 1 ? '' : `${quantity} x `;
  const more = others === 0 ? '' : ` and ${others} more`;
  return ` for ${count}${name}${more}`;
}

function formatDollars(cents: number): string {
  return `$${Math.floor(cents / 100)}.${`${cents % 100}`.padStart(2, '0')}`;
}

function formatTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

/** Most names are, and stay as they are. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** One line, cut between characters, never inside one. */
function cut(name: string): string {
  const line = PLAIN.test(name)
    ? name
    : visibleText(name)
        .replaceAll(/[\s\p{Cc}]+/gu, ' ')
        .trim();
  if (Buffer.byteLength(line) <= MAX_NAME_BYTES) return line;
  let kept = '';
  let left = MAX_NAME_BYTES - Buffer.byteLength(ELLIPSIS);
  for (const character of line) {
    left -= Buffer.byteLength(character);
    if (left < 0) break;
    kept += character;
  }
  return kept + ELLIPSIS;
}
