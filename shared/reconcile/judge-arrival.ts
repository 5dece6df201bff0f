import type { Arrival } from '../chains/check/arrival.js';
import { isSameAddress } from '../chains/networks/text-forms.js';
import { askedAmount, type BookedPayable, type BookedPayment, isReceiver } from './books.js';
import { type Difference, type Line, lineOf } from './line.js';

/** The rows of the books that may explain one transfer. */
export interface Known {
  /** The payment with its payload. */
  booked: BookedPayment | undefined;
  /** The session or refund that its reference names. */
  payableId: string | undefined;
  /** The session or refund of `payableId`; undefined when Postgres does not have it. */
  payable: BookedPayable | undefined;
  /** Whether the receiver is a merchant's wallet; else it is a buyer's, to whom a refund went. */
  isMerchants: boolean;
}

export type Judgement =
  | { kind: 'line'; line: Line }
  /** Money that no payment has and that can be recorded, as a payment of its session or as the failed payment's. */
  | { kind: 'recordable'; line: Line; as: { paymentId: string } | { payable: BookedPayable } }
  /** A payment has it and is not decided yet, which is another command's business. */
  | { kind: 'undecided' }
  /** A buyer's wallet has many transfers that are none of ours. */
  | { kind: 'not_ours' };

export function judgeArrival(
  arrival: Arrival,
  { booked, payableId, payable, isMerchants }: Known,
): Judgement {
  if (booked !== undefined) return judgeBooked(arrival, booked);
  if (payable !== undefined) return judgeReferred(arrival, payable);
  if (payableId !== undefined)
    return reportAs(arrival, { status: 'unrecorded', payableId, obstacle: 'session_gone' });
  return isMerchants
    ? reportAs(arrival, { status: 'unrecorded', obstacle: 'no_reference' })
    : { kind: 'not_ours' };
}

function judgeBooked(arrival: Arrival, booked: BookedPayment): Judgement {
  const { id: paymentId, payableId } = booked;
  const isSameTransaction =
    booked.transaction !== null && isSameAddress(arrival.network, booked.transaction, arrival.transaction);
  if (booked.kind === 'archived') {
    const names = { paymentId, payableId };
    if (isSameTransaction) return reportAs(arrival, { status: 'matched', ...names });
    return booked.transaction === null
      ? reportAs(arrival, { status: 'unrecorded', ...names, obstacle: 'payment_archived' })
      : reportAs(arrival, { status: 'different', ...names, differs: ['transaction'] });
  }
  const { accountId, status } = booked;
  const names = { paymentId, payableId, accountId };
  if (status === 'processing') return { kind: 'undecided' };
  const differs: Difference[] = [
    ...(BigInt(booked.tokenAmount) === arrival.amount ? [] : ['amount' as const]),
    ...(isSameAddress(arrival.network, booked.asset, arrival.asset) ? [] : ['token' as const]),
    ...(isSameAddress(arrival.network, booked.payTo, arrival.payTo) ? [] : ['receiver' as const]),
    ...(status === 'failed' || isSameTransaction ? [] : ['transaction' as const]),
  ];
  if (differs.length > 0) return reportAs(arrival, { status: 'different', ...names, differs });
  if (status === 'succeeded') return reportAs(arrival, { status: 'matched', ...names });
  return { kind: 'recordable', line: lineOf(arrival, { status: 'unrecorded', ...names }), as: { paymentId } };
}

function judgeReferred(arrival: Arrival, payable: BookedPayable): Judgement {
  const { id: payableId, accountId } = payable;
  const amount = askedAmount(payable, arrival);
  const differs: Difference[] = [
    ...(amount === undefined || amount === arrival.amount ? [] : ['amount' as const]),
    ...(amount === undefined ? ['token' as const] : []),
    ...(isReceiver(payable, arrival) ? [] : ['receiver' as const]),
  ];
  if (differs.length > 0) return reportAs(arrival, { status: 'different', payableId, accountId, differs });
  const line = lineOf(arrival, { status: 'unrecorded', payableId, accountId });
  return { kind: 'recordable', line, as: { payable } };
}

function reportAs(arrival: Arrival, rest: Parameters<typeof lineOf>[1]): Judgement {
  return { kind: 'line', line: lineOf(arrival, rest) };
}
