/**
 * An error that the client can act on: a code, a sentence that says what to change and, if there is one, the parameter at
 * fault. Any other error is a fault of the service: it is logged, and the client gets no details.
 */
export type RefusalCode =
  | 'amount_too_large'
  | 'api_key_invalid'
  | 'api_key_missing'
  | 'api_key_revoked'
  | 'body_too_large'
  | 'checkout_session_not_open'
  | 'email_invalid'
  | 'headers_too_large'
  | 'idempotency_key_invalid'
  | 'idempotency_key_reused'
  | 'key_read_only'
  | 'malformed_body'
  | 'malformed_request'
  | 'method_not_allowed'
  | 'parameter_invalid'
  | 'parameter_invalid_empty'
  | 'parameter_invalid_enum'
  | 'parameter_invalid_integer'
  | 'parameter_invalid_string'
  | 'parameter_missing'
  | 'parameter_unknown'
  | 'parameters_exclusive'
  | 'payer_unknown'
  | 'payment_not_succeeded'
  | 'payout_wallet_missing'
  | 'rate_limit'
  | 'refund_amount_too_large'
  | 'refund_not_cancelable'
  | 'request_timeout'
  | 'resource_missing'
  | 'service_unavailable'
  | 'token_expired'
  | 'token_invalid'
  | 'token_missing'
  | 'unknown_path'
  | 'unsupported_content_encoding'
  | 'unsupported_content_type'
  | 'url_invalid'
  | 'webhook_endpoint_disabled'
  | 'webhook_endpoint_limit';

interface RefusalDetails {
  param?: string;
  retryAfterSeconds?: number;
  /** The methods of a 405's `Allow` header. */
  allow?: string;
}

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  readonly details: RefusalDetails;

  constructor(code: RefusalCode, message: string, details: RefusalDetails = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Returns the object that was read by `id`, or refuses an id that names nothing. */
export function requireFound<T>(object: T | undefined, what: string, id: string): T {
  if (object === undefined) throw noSuch(what, id);
  return object;
}

export function noSuch(what: string, id: string, param = 'id'): Refusal {
  return new Refusal('resource_missing', `No such ${what}: '${id.slice(0, 100)}'.`, { param });
}
