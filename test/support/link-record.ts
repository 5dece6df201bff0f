import type { Response } from 'supertest';
import type { Checkout, SignedPayment } from './checkout.js';
import { answerOf, receiptOf } from './link-answers.js';

/**
 * The answer to a request to a payment link, and its effects. The checkout asserts the form of body and headers
 * for every answer.
 */
export interface LinkRecord {
  answer: string;
  retryAfter: boolean;
  /** The content of PAYMENT-RESPONSE: `paid`, or the error. */
  receipt: string | undefined;
  session: string;
  /** Oldest first; a failed payment with its code. */
  payments: string[];
  events: string[];
  /** How often the facilitator was called for the payment. */
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
    answer: answerOf(res),
    retryAfter: res.get('Retry-After') !== undefined,
    receipt: receipt?.success === true ? 'paid' : receipt?.errorReason,
    session,
    payments: payments.map(({ status, failureCode }) => [status, failureCode ?? []].flat().join(' ')),
    events,
    ...(payment === undefined ? { verify: 0, settle: 0 } : checkout.calls(payment)),
  };
}

/** The record of a session that waits for a payment. */
export const OPEN: Omit<LinkRecord, 'answer'> = {
  retryAfter: false,
  receipt: undefined,
  session: 'open',
  payments: [],
  events: [],
  verify: 0,
  settle: 0,
};

/** The record of a session that a payment has just paid. */
export const PAID: Omit<LinkRecord, 'answer'> = {
  retryAfter: false,
  receipt: 'paid',
  session: 'complete',
  payments: ['succeeded'],
  events: ['checkout.session.completed'],
  verify: 1,
  settle: 1,
};
