import type { RefusalCode } from '../../shared/errors/refusal.js';

export type ErrorType = 'invalid_request_error' | 'authentication_error' | 'idempotency_error' | 'api_error';

interface CatalogEntry {
  status: number;
  type: ErrorType;
}

const invalid: CatalogEntry = { status: 400, type: 'invalid_request_error' };
const unauthenticated: CatalogEntry = { status: 401, type: 'authentication_error' };
const idempotency: CatalogEntry = { status: 400, type: 'idempotency_error' };
const missing: CatalogEntry = { status: 404, type: 'invalid_request_error' };

/** Every refusal's status and type; a code without an entry does not compile. */
export const ERROR_CATALOG: Record<RefusalCode, CatalogEntry> = {
  amount_too_large: invalid,
  api_key_invalid: unauthenticated,
  api_key_missing: unauthenticated,
  api_key_revoked: unauthenticated,
  body_too_large: invalid,
  checkout_session_not_open: invalid,
  email_invalid: invalid,
  headers_too_large: { status: 431, type: 'invalid_request_error' },
  idempotency_key_invalid: idempotency,
  idempotency_key_reused: idempotency,
  key_read_only: { status: 403, type: 'invalid_request_error' },
  malformed_body: invalid,
  malformed_request: invalid,
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  parameter_invalid: invalid,
  parameter_invalid_empty: invalid,
  parameter_invalid_enum: invalid,
  parameter_invalid_integer: invalid,
  parameter_invalid_string: invalid,
  parameter_missing: invalid,
  parameter_unknown: invalid,
  parameters_exclusive: invalid,
  payer_unknown: invalid,
  payment_not_succeeded: invalid,
  payout_wallet_missing: invalid,
  rate_limit: { status: 429, type: 'invalid_request_error' },
  refund_amount_too_large: invalid,
  refund_not_cancelable: invalid,
  request_timeout: { status: 408, type: 'invalid_request_error' },
  resource_missing: missing,
  service_unavailable: { status: 503, type: 'api_error' },
  token_expired: unauthenticated,
  token_invalid: unauthenticated,
  token_missing: unauthenticated,
  unknown_path: missing,
  unsupported_content_encoding: invalid,
  unsupported_content_type: invalid,
  url_invalid: invalid,
  webhook_endpoint_disabled: invalid,
  webhook_endpoint_limit: invalid,
};
