/** Facilitators' answers by how certain they are. */
export const CLEAR_REFUSALS = [
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_payload_authorization_valid_before',
  'kyt_risk_detected',
] as const;
export type ClearRefusal = (typeof CLEAR_REFUSALS)[number];

/** Reasons that facilitators also give for a used authorization. */
export const DOUBTFUL_REFUSALS = [
  'insufficient_funds',
  'invalid_exact_evm_transaction_simulation_failed',
  'invalid_transaction_state',
  'unexpected_settle_error',
  'unexpected_verify_error',
] as const;
export type DoubtfulRefusal = (typeof DOUBTFUL_REFUSALS)[number];

/** Replies after which the facilitator may still be processing: the caller has hung up, or a gateway has. */
export const HUNG_UP = [
  'no answer in time',
  'connection reset',
  'gateway time-out',
  'HTTP 500',
  'no JSON',
] as const;
export const UNCLEAR_REPLIES = [
  ...HUNG_UP,
  'success without a transaction',
  'failure with a transaction',
  'settlement_pending',
  'duplicate_settlement',
  'invalid_exact_evm_nonce_already_used',
  'invalid_exact_evm_transaction_failed',
  'settlement_timed_out',
  'unknown_error',
  'a word that nobody knows',
  'another network',
] as const;
export type UnclearReply = (typeof UNCLEAR_REPLIES)[number];
