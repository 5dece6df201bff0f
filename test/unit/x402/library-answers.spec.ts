import assert from 'node:assert/strict';
import { codeOf, HASH, PAYER, settle, verify } from './answers.js';
import { BASE_SEPOLIA } from './offers.js';

/**
 * Recorded answers of the x402 library's own facilitator: its reason, and the code that a buyer gets for it on verify and on
 * settle; null where the answer was not observed.
 */
const SEEN: Record<
  string,
  [reason: string, onVerify: string | null, onSettle: string | null, transaction?: string]
> = {
  'no funds': ['invalid_exact_evm_insufficient_balance', 'insufficient_funds', 'insufficient_funds'],
  'a used nonce': ['invalid_exact_evm_nonce_already_used', 'invalid_transaction_state', 'unknown'],
  'a tampered signature, another signer, one of 64 bytes, a node that is down': [
    'invalid_exact_evm_signature',
    'invalid_exact_evm_payload_signature',
    'invalid_exact_evm_payload_signature',
  ],
  'a signature with v of 0 or 1, on verify': [
    'invalid_exact_evm_transaction_simulation_failed',
    'invalid_exact_evm_transaction_simulation_failed',
    null,
  ],
  'an authorization that has ended': [
    'invalid_exact_evm_payload_authorization_valid_before',
    'invalid_exact_evm_payload_authorization_valid_before',
    'invalid_exact_evm_payload_authorization_valid_before',
  ],
  'an authorization that begins later': [
    'invalid_exact_evm_payload_authorization_valid_after',
    'invalid_exact_evm_payload_authorization_valid_after',
    'invalid_exact_evm_payload_authorization_valid_after',
  ],
  'another recipient': [
    'invalid_exact_evm_recipient_mismatch',
    'invalid_exact_evm_payload_recipient_mismatch',
    'invalid_exact_evm_payload_recipient_mismatch',
  ],
  'an amount too low or too high': [
    'invalid_exact_evm_payload_authorization_value_mismatch',
    'invalid_exact_evm_payload_authorization_value',
    'invalid_exact_evm_payload_authorization_value',
  ],
  'another network': ['invalid_exact_evm_network_mismatch', 'invalid_network', null],
  'a network that is not registered': ['invalid_network', 'invalid_network', 'invalid_network'],
  'a scheme that is not registered': ['unsupported_scheme', 'unsupported_scheme', 'unsupported_scheme'],
  'a wrong name in the domain, on verify': [
    'invalid_exact_evm_token_name_mismatch',
    'invalid_exact_evm_token_name_mismatch',
    null,
  ],
  'no domain': [
    'invalid_exact_evm_missing_eip712_domain',
    'invalid_exact_evm_missing_eip712_domain',
    'invalid_exact_evm_missing_eip712_domain',
  ],
  'an asset without code': [
    'asset_not_deployed_contract',
    'asset_not_deployed_contract',
    'asset_not_deployed_contract',
  ],
  'a payload on which it threw, on verify': ['unexpected_verify_error', 'unexpected_verify_error', null],
  'a payload on which it threw, on settle': ['unexpected_settle_error', null, 'unexpected_settle_error'],
  'a slow chain, a dropped transaction': ['settlement_pending', null, 'unknown', HASH],
  'a transaction that reverted': ['invalid_exact_evm_transaction_failed', null, 'unknown', HASH],
  'a facilitator without gas': ['invalid_exact_evm_transaction_failed', null, 'unknown'],
  'a Solana payment sent twice, on settle': ['duplicate_settlement', null, 'unknown'],
  'a Solana transaction that would fail': [
    'invalid_exact_svm_transaction_simulation_failed',
    'invalid_exact_svm_transaction_simulation_failed',
    'invalid_exact_svm_transaction_simulation_failed',
  ],
  'a Solana transaction that failed': ['invalid_exact_svm_transaction_failed', null, 'unknown', HASH],
  'another Solana network': ['invalid_exact_svm_network_mismatch', 'invalid_network', null],
};

/** Codes that buyers get unchanged. */
const SEEN_AND_PASSED_ON = [
  'invalid_exact_svm_payload_signature_invalid',
  'invalid_exact_svm_payload_amount_mismatch',
  'invalid_exact_svm_payload_recipient_mismatch',
  'invalid_exact_svm_payload_mint_mismatch',
  'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
  'invalid_exact_svm_payload_missing_fee_payer',
  'invalid_exact_svm_payload_transaction_could_not_be_decoded',
  'invalid_exact_svm_payload_transaction_instructions_length',
  'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction',
  'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high',
  'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
  'invalid_exact_svm_payload_no_transfer_instruction',
  'invalid_exact_svm_payload_unknown_fourth_instruction',
  'invalid_exact_svm_payload_memo_mismatch',
];

describe("the x402 library's facilitator", () => {
  const passedOn = SEEN_AND_PASSED_ON.map((code): [string, (typeof SEEN)[string]] => [
    code,
    [code, code, code],
  ]);

  for (const [title, [reason, onVerify, onSettle, transaction = '']] of [
    ...Object.entries(SEEN),
    ...passedOn,
  ]) {
    if (onVerify !== null) {
      it(`is understood on verify: ${title}`, () => {
        assert.equal(codeOf(verify({ isValid: false, invalidReason: reason, payer: '' })), onVerify);
      });
    }
    if (onSettle !== null) {
      it(`is understood on settle: ${title}`, () => {
        const answer = {
          success: false,
          network: BASE_SEPOLIA,
          transaction,
          errorReason: reason,
          payer: PAYER,
        };
        const verdict = settle(answer);
        assert.equal(verdict.kind === 'rejected' ? verdict.code : verdict.kind, onSettle);
        if (verdict.kind === 'unknown') assert.equal(verdict.transaction, transaction || undefined);
      });
    }
  }
});
