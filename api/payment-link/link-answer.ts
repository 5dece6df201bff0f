import type { LinkedPayable } from '../../shared/settlement/read-link.js';
import { isRefundId } from '../../shared/values/ids.js';
import type { Failure, UncertainPayment } from '../../shared/x402/failure-codes.js';
import type { PaymentRequired, SettlementResponse } from '../../shared/x402/wire.js';
import type { BuyerError } from '../errors/buyer-errors.js';
import type { LinkFailure } from './earlier-failure.js';

/** The response of a link, before it is written as JSON or as a page. */
export type LinkAnswer =
  | { kind: 'paid'; receipt: SettlementResponse; session: LinkedPayable }
  | { kind: 'processing'; status: 202 | 409 }
  | {
      kind: 'payment_required';
      required: PaymentRequired;
      /** The terms hold as long as the link can be paid. */
      validUntil: Date;
      failed?: SettlementResponse;
      uncertain?: UncertainPayment;
    }
  | {
      kind: 'error';
      error: BuyerError;
      receipt?: SettlementResponse;
      retryAfterSeconds?: number;
      uncertain?: UncertainPayment;
    };

const BUSY_SECONDS = 5;
const CONFLICT_SECONDS = 2;
const SELLER_REFUSED_SECONDS = 60;

export function stillProcessing(): LinkAnswer {
  return { kind: 'processing', status: 202 };
}

/** `uncertain`: the last payment of the session may have been taken. */
export function expired(session: LinkedPayable, uncertain: LinkFailure | undefined): LinkAnswer {
  return withUncertain(errorAnswer('session_expired', describeEnd(session, uncertain)), uncertain);
}

/** The link's end, and what to do unless a payment may have been taken. A refund's link is for its merchant. */
export function describeEnd({ id }: LinkedPayable, uncertain: LinkFailure | undefined): string {
  const [over, next] = isRefundId(id)
    ? [
        'This refund was canceled, or its time is over.',
        'Its link can no longer be paid: make a new refund of the payment.',
      ]
    : ['This link has expired.', 'It can no longer be paid: ask the merchant for a new one.'];
  return uncertain === undefined ? `${over} ${next}` : over;
}

/** Says in an error response that the last payment of the session may have been taken. */
export function withUncertain(answer: LinkAnswer, uncertain: LinkFailure | undefined): LinkAnswer {
  if (answer.kind !== 'error' || uncertain === undefined) return answer;
  const { code, message } = answer.error;
  return {
    ...answer,
    error: { code, message: `${message} ${uncertain.message}` },
    uncertain: uncertainPayment(uncertain),
  };
}

export function uncertainPayment({ paymentId }: LinkFailure): UncertainPayment {
  return paymentId === undefined ? {} : { paymentId };
}

/** `forMs`: when to try again, if known. */
export function busy(forMs = 0): LinkAnswer {
  return errorAnswer(
    'payment_service_unavailable',
    'Payments cannot be taken right now, and this request moved no money. Try again in a few seconds; the same signature may be sent again.',
    Math.max(BUSY_SECONDS, Math.ceil(forMs / 1000)),
  );
}

/** Undefined unless the facilitator does not serve the merchant or this service, which only the operator can mend. */
export function sellerRefused(failure: Failure): LinkAnswer | undefined {
  if (failure.class !== 'seller' || failure.isUncertain) return undefined;
  return errorAnswer('payment_service_unavailable', failure.message, SELLER_REFUSED_SECONDS);
}

/**
 * The claim is no longer in Postgres. After a crash nothing was sent to the facilitator; after a failover that is
 * unknown. Sending the payment again looks for it on chain.
 */
export function claimLost(): LinkAnswer {
  const answer = errorAnswer(
    'payment_service_unavailable',
    'The outcome of this payment is not known right now. Send the same signature again in a few seconds; it moves money at most once.',
    BUSY_SECONDS,
  );
  return { ...answer, uncertain: {} };
}

export function alreadyPaid(receipt?: SettlementResponse): LinkAnswer {
  const answer = errorAnswer(
    'session_already_paid',
    'This link is paid. Send GET without a payment header for the receipt.',
    CONFLICT_SECONDS,
  );
  return receipt === undefined ? answer : { ...answer, receipt };
}

export function signatureUsed(uncertain?: LinkFailure): LinkAnswer {
  const next = uncertain === undefined ? ' Sign a new one for this link.' : '';
  const message = `This signed payment was used before.${next}`;
  return withUncertain(errorAnswer('signature_already_used', message, CONFLICT_SECONDS), uncertain);
}

export function identifierReused(): LinkAnswer {
  return errorAnswer(
    'payment_identifier_reused',
    'Another payment of this link, which failed, was sent with this payment identifier. Send a new payment with a new one.',
    CONFLICT_SECONDS,
  );
}

export function errorAnswer(
  code: BuyerError['code'],
  message: string,
  retryAfterSeconds?: number,
): Extract<LinkAnswer, { kind: 'error' }> {
  return {
    kind: 'error',
    error: { code, message },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}
