import type { LinkedSession } from '../../shared/settlement/read-link.js';
import type { Failure } from '../../shared/x402/failure-codes.js';
import type { PaymentRequired, SettlementResponse } from '../../shared/x402/wire.js';
import type { BuyerError } from '../errors/buyer-errors.js';

/** The response of a link, before it is written as JSON or as a page. */
export type LinkAnswer =
  | { kind: 'paid'; receipt: SettlementResponse; session: LinkedSession }
  | { kind: 'processing'; status: 202 | 409 }
  /** `isUncertain`: the payment that it names may have been taken. */
  | { kind: 'payment_required'; required: PaymentRequired; failed?: SettlementResponse; isUncertain?: true }
  | { kind: 'error'; error: BuyerError; receipt?: SettlementResponse; retryAfterSeconds?: number };

const BUSY_SECONDS = 5;
const CONFLICT_SECONDS = 2;

export function stillProcessing(): LinkAnswer {
  return { kind: 'processing', status: 202 };
}

/** `uncertain`: the last payment of the session may have been taken. */
export function expired(uncertain?: Failure): LinkAnswer {
  const message = 'This link has expired and can no longer be paid. Ask the merchant for a new one.';
  return refuse(
    'session_expired',
    uncertain === undefined ? message : `This link has expired. ${uncertain.message}`,
  );
}

/** `forMs`: when to try again, if known. */
export function busy(forMs = 0): LinkAnswer {
  return refuse(
    'payment_service_unavailable',
    'Payments cannot be taken right now, and no money moved. Try again in a few seconds; the same signature may be sent again.',
    Math.max(BUSY_SECONDS, Math.ceil(forMs / 1000)),
  );
}

/**
 * The claim is no longer in Postgres. After a crash nothing was sent to the facilitator; after a failover that is
 * unknown. Sending the payment again looks for it on chain.
 */
export function claimLost(): LinkAnswer {
  return refuse(
    'payment_service_unavailable',
    'The outcome of this payment is not known right now. Send the same signature again in a few seconds; it moves money at most once.',
    BUSY_SECONDS,
  );
}

export function alreadyPaid(receipt?: SettlementResponse): LinkAnswer {
  const answer = refuse(
    'session_already_paid',
    'This link is paid. Send GET without a payment header for the receipt.',
    CONFLICT_SECONDS,
  );
  return answer.kind === 'error' && receipt !== undefined ? { ...answer, receipt } : answer;
}

export function signatureUsed(uncertain?: Failure): LinkAnswer {
  return refuse(
    'signature_already_used',
    uncertain?.message ?? 'This signed payment was used before. Sign a new one for this link.',
    CONFLICT_SECONDS,
  );
}

export function identifierReused(): LinkAnswer {
  return refuse(
    'payment_identifier_reused',
    'Another payment of this link, which failed, was sent with this payment identifier. Send a new payment with a new one.',
    CONFLICT_SECONDS,
  );
}

export function refuse(code: BuyerError['code'], message: string, retryAfterSeconds?: number): LinkAnswer {
  return {
    kind: 'error',
    error: { code, message },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}
