import { noSuch, Refusal } from '../../../shared/errors/refusal.js';
import type { NewRefund } from '../../../shared/refunds/create.js';
import { isIdShaped, soughtId } from '../../../shared/values/ids.js';
import type { CreateRefund } from './schema.js';

const NAMES = ['payment', 'payment_intent', 'charge'] as const;

type Names = { [name in (typeof NAMES)[number]]?: string };

interface Named {
  id: string;
  param: (typeof NAMES)[number];
}

/** Reads the payment id from `payment` or first of its Stripe aliases; undefined when none was sent. */
export function namedPayment(input: Names): Named | undefined {
  const sent = NAMES.flatMap((param) => {
    const id = input[param];
    return id === undefined ? [] : [{ id: soughtId(id), param }];
  });
  const [first, second] = sent;
  if (first === undefined || second === undefined) return first;
  const message = `Send ${first.param} or ${second.param}, not both: they name the same payment.`;
  throw new Refusal('parameters_exclusive', message, { param: second.param });
}

export function newRefund(input: CreateRefund): NewRefund {
  const named = namedPayment(input);
  if (named === undefined) {
    const message = 'payment is missing. Send the id of the payment to refund, pay_….';
    throw new Refusal('parameter_missing', message, { param: 'payment' });
  }
  const { id, param } = named;
  if (!isIdShaped(id)) throw noSuch('payment', id, param);
  return {
    paymentId: id,
    paymentParam: param,
    amountCents: input.amount,
    reason: input.reason ?? null,
    metadata: input.metadata ?? {},
    expiresAtSeconds: input.expires_at,
  };
}
