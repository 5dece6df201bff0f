/** The buyer's errors, each with its one status. Those that may pass say when to try again. */
export const BUYER_ERRORS = {
  invalid_payment_payload: 400,
  resource_missing: 404,
  method_not_allowed: 405,
  payment_identifier_reused: 409,
  payment_processing: 409,
  session_already_paid: 409,
  signature_already_used: 409,
  session_expired: 410,
  rate_limit: 429,
  internal_error: 500,
  payment_service_unavailable: 503,
  payments_unavailable: 503,
} as const satisfies Record<string, number>;

export type BuyerErrorCode = keyof typeof BUYER_ERRORS;

export interface BuyerError {
  code: BuyerErrorCode;
  message: string;
}
