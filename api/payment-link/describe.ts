import type { LinkedPayable } from '../../shared/settlement/read-link.js';
import { dollarText } from '../../shared/values/money.js';
import { visibleText } from '../../shared/values/visible-text.js';
import { utcText } from '../../shared/wire/timestamp.js';
import type { PaymentRequirements } from '../../shared/x402/wire.js';
import { stockClientAdvice } from './stock-clients.js';

/** Keeps a PAYMENT-REQUIRED header with the most entries below the header limits of common proxies. */
const MAX_NAME_BYTES = 70;
const ELLIPSIS = '…';

/**
 * The description in the 402 that an agent reads before paying: payee, items, amount, expiry, and settings its
 * client may need. It is constant while the session is open and holds nothing private to the merchant.
 */
export function describePayment(session: LinkedPayable, accepts: readonly PaymentRequirements[]): string {
  const dollars = `$${dollarText(session.amountTotalCents)}`;
  const merchant = cut(session.account.name);
  const { refund } = session;
  const advice = stockClientAdvice(session.amountTotalCents, dollars, accepts);
  const what =
    refund == null
      ? `${dollars} to ${merchant}${describeItems(session)}`
      : `Refund of ${dollars} by ${merchant} to ${refund.payTo}, who paid for ${cut(refund.reference ?? refund.checkoutSession)}`;
  const payment = `${what}, payable until ${utcText(session.expiresAt)}.`;
  return advice === undefined ? payment : `${payment} ${advice}`;
}

/** x402's limit. */
const MAX_SERVICE_NAME = 32;
/** Merchants' names may be long; the rest would be cut anyway. */
const READ_OF_NAME = 4 * MAX_SERVICE_NAME;

/**
 * The merchant's name for clients that show a payee: x402 allows printable ASCII only, so accents are dropped. Undefined
 * for a name in letters that have no ASCII form, which `describePayment` has as it is.
 */
export function serviceNameOf(name: string): string | undefined {
  if (name.length <= MAX_SERVICE_NAME && PLAIN.test(name)) return name;
  const bare = visibleText(name.slice(0, READ_OF_NAME))
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '');
  if (/[^\0-\x7f]/u.test(bare.replaceAll(/[^\p{Letter}\p{Number}]/gu, ''))) return undefined;
  const line = bare.replaceAll(/[^!-~]+/g, ' ').trim();
  if (line === '') return undefined;
  return line.length <= MAX_SERVICE_NAME ? line : `${line.slice(0, MAX_SERVICE_NAME - 3).trimEnd()}...`;
}

function describeItems({ summary }: LinkedPayable): string {
  if (summary?.name == null) return '';
  const { quantity, others } = summary;
  const name = cut(summary.name);
  if (name === '') return '';
  const count = quantity === null || quantity === 1 ? '' : `${quantity} x `;
  const more = others === 0 ? '' : ` and ${others} more`;
  return ` for ${count}${name}${more}`;
}

/** Most names match this and need no cleaning. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** Returns one line, truncated between code points. */
function cut(name: string): string {
  const line = PLAIN.test(name)
    ? name
    : visibleText(name)
        .replaceAll(/[\s\p{Cc}]+/gu, ' ')
        .trim();
  if (Buffer.byteLength(line) <= MAX_NAME_BYTES) return line;
  let result = '';
  let left = MAX_NAME_BYTES - Buffer.byteLength(ELLIPSIS);
  for (const character of line) {
    left -= Buffer.byteLength(character);
    if (left < 0) break;
    result += character;
  }
  return result + ELLIPSIS;
}
