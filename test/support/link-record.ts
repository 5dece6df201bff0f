import type { Response } from 'supertest';
import type { Checkout, SignedPayment } from './checkout.js';
import { receiptOf, told } from './link-answers.js';

/**
 * All that a request to a link is answered and leaves behind, to be held against a promise as a whole. The form of its
 * body and headers is held by the checkout itself, for every answer.
 */
export interface LinkRecord {
  answer: string;
  retryAfter: boolean;
  /** PAYMENT-RESPONSE: `paid`, or why not. */
  receipt: string | undefined;
  session: string;
  /** Oldest first, a failed one with its code. */
  payments: string[];
  events: string[];
  /** How often the facilitator was asked about the payment. */
  verify: number;
  settle: number;
}

export async function recordOf(
  checkout: Checkout,
  sessionId: string,
  res: Response,
  payment?: SignedPayment,
): Promise<LinkRecord> {
  const receipt = receiptOf(res);
  const { session, events } = await checkout.state(sessionId);
  const payments = await checkout.payments(sessionId);
  return {
    answer: told(res),
    retryAfter: res.get('Retry-After') !== undefined,
    receipt: receipt?.success === true ? 'paid' : receipt?.errorReason,
    session,
    payments: payments.map(({ status, failureCode }) => [status, failureCode ?? []].flat().join(' ')),
    events,
    ...(payment === undefined ? { verify: 0, settle: 0 } : checkout.calls(payment)),
  };
}

/** Of a session that waits for a payment, with nothing said about one. */
export const OPEN: Omit<LinkRecord, 'answer'> = {
  retryAfter: false,
  receipt: undefined,
  session: 'open',
  payments: [],
  events: [],
  verify: 0,
  settle: 0,
};

/** Of a session that a payment has just paid. */
export const PAID: Omit<LinkRecord, 'answer'> = {
  retryAfter: false,
  receipt: 'paid',
  session: 'complete',
  payments: ['succeeded'],
  events: ['checkout.session.completed'],
  verify: 1,
  settle: 1,
};
