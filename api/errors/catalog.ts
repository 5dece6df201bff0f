import type { RefusalCode } from '../../shared/errors/refusal.js';

export type ErrorType = 'invalid_request_error' | 'authentication_error' | 'idempotency_error' | 'api_error';

interface CatalogEntry {
  status: number;
  type: ErrorType;
  /** The sentences of the page at /docs/errors. */
  meaning: string;
}

function invalid(meaning: string, status = 400): CatalogEntry {
  return { status, type: 'invalid_request_error', meaning };
}

function unauthenticated(meaning: string): CatalogEntry {
  return { status: 401, type: 'authentication_error', meaning };
}

function idempotency(meaning: string): CatalogEntry {
  return { status: 400, type: 'idempotency_error', meaning };
}

const SEND_AGAIN = 'Send it again with the same Idempotency-Key: nothing happens twice.';

/** Every refusal's status, type and meaning; a code without an entry does not compile. */
export const ERROR_CATALOG: Record<RefusalCode, CatalogEntry> = {
  amount_too_large: invalid('The line items sum to more than 9007199254740991 cents.'),
  api_key_invalid: unauthenticated(
    'No key has this secret. Copy the key again, or ask the operator for a new one.',
  ),
  api_key_missing: unauthenticated(
    'The request has no key. Send it as "Authorization: Bearer", or as the user name of Basic authentication.',
  ),
  api_key_revoked: unauthenticated(
    'The key was revoked or deleted, or the operator has disabled the account. Use another key, or ask the operator.',
  ),
  body_too_large: invalid(
    'The body is over 2 MiB, holds more than 20,000 values, or is nested deeper than 20. Send less in one request.',
  ),
  checkout_session_not_open: invalid(
    'Only an open session can be expired. Retrieve it: it is paid, expired, or being paid at this moment.',
  ),
  email_invalid: invalid('The text is no email address.'),
  headers_too_large: invalid(
    'The request line and the headers are longer than 32 KiB, or there are more than 64 headers.',
    431,
  ),
  idempotency_key_invalid: idempotency('An Idempotency-Key has at most 255 characters.'),
  idempotency_key_reused: idempotency(
    'This Idempotency-Key came within the last 24 hours with another body or path. Use a new key for a new request.',
  ),
  key_read_only: invalid('A read-only key may only send GET. Use a key with full access.', 403),
  malformed_body: invalid(
    'The body is no JSON, or no form, though its Content-Type says so; or it ended early.',
  ),
  malformed_request: invalid('The request is no valid HTTP/1.1.'),
  method_not_allowed: invalid(
    'The path exists, and has no such method. The Allow header lists its methods.',
    405,
  ),
  parameter_invalid: invalid('The parameter in `param` has the wrong type or form.'),
  parameter_invalid_empty: invalid('A required parameter is empty. Send a value for it.'),
  parameter_invalid_enum: invalid('The parameter takes only the values that `message` lists.'),
  parameter_invalid_integer: invalid('The parameter is not an integer, or is out of its range.'),
  parameter_invalid_string: invalid('The text is too long, or holds characters that it may not.'),
  parameter_missing: invalid('A required parameter is missing.'),
  parameter_unknown: invalid(
    'There is no parameter of this name here. Check its spelling, and where it is nested.',
  ),
  parameters_exclusive: invalid('Two parameters exclude each other. Send one of them.'),
  payer_unknown: invalid(
    'The payment has no wallet that is known to have paid, so a refund has no address to go to.',
  ),
  payment_not_succeeded: invalid('Only a payment that succeeded can be refunded.'),
  payout_wallet_missing: invalid(
    'The account has no payout wallet, so nobody could pay. Ask the operator to set one.',
  ),
  rate_limit: invalid(
    'Too many requests at once, too many keys an hour, or too many pending deliveries. Wait as long as Retry-After says.',
    429,
  ),
  refund_amount_too_large: invalid(
    'The refunds of a payment never sum to more than it. `message` says what is left.',
  ),
  refund_not_cancelable: invalid('Only a refund that requires action can be canceled.'),
  request_timeout: invalid('The request took too long to arrive. Send it again.', 408),
  resource_missing: invalid(
    'No object of this account and mode has this id. A live object is not visible to a test key, and the other way around.',
    404,
  ),
  service_unavailable: {
    status: 503,
    type: 'api_error',
    meaning: `The database is unavailable or busy. ${SEND_AGAIN}`,
  },
  token_expired: unauthenticated('The token of an agent has expired. Sign a new one.'),
  token_invalid: unauthenticated(
    'The token of an agent cannot be accepted: its key is not registered, or its signature or a claim is wrong.',
  ),
  token_missing: unauthenticated(
    'POST /v1/keys needs a JWT that is signed with a facilitator key of the account.',
  ),
  unknown_path: invalid('There is no such path.', 404),
  unsupported_content_encoding: invalid(
    'Bodies are not decompressed. Send the body without a Content-Encoding.',
  ),
  unsupported_content_type: invalid('Send JSON or a form, and say which in Content-Type.'),
  url_invalid: invalid(
    'The text is no URL of the required scheme; the URL of a webhook must also be public.',
  ),
  webhook_endpoint_disabled: invalid('A disabled endpoint gets no events. Enable it, and resend.'),
  webhook_endpoint_limit: invalid(
    'An account has at most 1,000 webhook endpoints in a mode. Delete one first.',
  ),
};

/** A fault of the service. It is no refusal, so that the code that finds it cannot say what to change. */
export const INTERNAL_ERROR: CatalogEntry & { code: 'internal_error' } = {
  code: 'internal_error',
  status: 500,
  type: 'api_error',
  meaning: `A fault of the service. ${SEND_AGAIN} If it stays, tell the operator the \`request_id\`.`,
};
