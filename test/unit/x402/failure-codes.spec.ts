import assert from 'node:assert/strict';
import { describeFailure, type FailureClass } from '../../../shared/x402/failure-codes.js';

/** Section 7.3 of the specification. */
const SPECIFIED: Record<string, FailureClass> = {
  insufficient_funds: 'buyer',
  invalid_exact_evm_payload_authorization_valid_after: 'buyer',
  invalid_exact_evm_payload_authorization_valid_before: 'buyer',
  invalid_exact_evm_payload_authorization_value: 'buyer',
  invalid_exact_evm_payload_signature: 'buyer',
  invalid_exact_evm_payload_recipient_mismatch: 'buyer',
  invalid_exact_svm_payload_transaction_instructions_length: 'buyer',
  invalid_network: 'buyer',
  invalid_payload: 'buyer',
  invalid_payment_requirements: 'buyer',
  invalid_scheme: 'buyer',
  unsupported_scheme: 'buyer',
  invalid_x402_version: 'buyer',
  invalid_transaction_state: 'settled_before',
  unexpected_verify_error: 'setup',
  unexpected_settle_error: 'setup',
};

const NEWER_NAMES: Record<string, string> = {
  invalid_exact_evm_insufficient_balance: 'insufficient_funds',
  permit2_insufficient_balance: 'insufficient_funds',
  invalid_exact_evm_signature: 'invalid_exact_evm_payload_signature',
  invalid_exact_evm_failed_to_parse_signature: 'invalid_exact_evm_payload_signature',
  invalid_exact_evm_recipient_mismatch: 'invalid_exact_evm_payload_recipient_mismatch',
  invalid_exact_evm_payload_authorization_value_mismatch: 'invalid_exact_evm_payload_authorization_value',
  invalid_exact_evm_payload_authorization_value_too_low: 'invalid_exact_evm_payload_authorization_value',
  invalid_exact_evm_authorization_value: 'invalid_exact_evm_payload_authorization_value',
  invalid_exact_evm_nonce_already_used: 'invalid_transaction_state',
  invalid_exact_evm_transaction_failed: 'invalid_transaction_state',
  invalid_exact_svm_transaction_failed: 'invalid_transaction_state',
  duplicate_settlement: 'invalid_transaction_state',
  invalid_exact_evm_network_mismatch: 'invalid_network',
  invalid_exact_svm_network_mismatch: 'invalid_network',
  invalid_exact_evm_scheme: 'invalid_scheme',
  invalid_exact_svm_unsupported_scheme: 'unsupported_scheme',
};

const PASSED_ON: Record<string, FailureClass> = {
  invalid_exact_evm_token_name_mismatch: 'setup',
  invalid_exact_evm_token_version_mismatch: 'setup',
  invalid_exact_evm_missing_eip712_domain: 'setup',
  invalid_exact_evm_eip3009_not_supported: 'setup',
  asset_not_deployed_contract: 'setup',
  invalid_exact_svm_fee_payer_not_managed_by_facilitator: 'setup',
  invalid_exact_svm_invalid_fee_payer: 'setup',
  invalid_exact_svm_payload_missing_fee_payer: 'setup',
  invalid_exact_svm_payload_transaction_receiver_ata_not_found: 'setup',
  invalid_exact_evm_transaction_simulation_failed: 'buyer',
  invalid_exact_svm_transaction_simulation_failed: 'buyer',
  invalid_exact_svm_payload_signature_invalid: 'buyer',
  invalid_exact_svm_payload_amount_mismatch: 'buyer',
  invalid_exact_svm_payload_recipient_mismatch: 'buyer',
  invalid_exact_svm_payload_mint_mismatch: 'buyer',
  invalid_exact_evm_payload_kyt_risk_found: 'policy',
  settlement_pending: 'unknown',
  eip6492_factory_not_allowed: 'unknown',
  a_word_of_tomorrow_2: 'unknown',
};

describe('a failure code', () => {
  for (const [code, failureClass] of Object.entries({ ...SPECIFIED, ...PASSED_ON })) {
    it(`of the specification, or of a facilitator, is passed on: ${code}`, () => {
      const { message: _, ...failure } = describeFailure(code);
      assert.deepEqual(failure, { code, reason: code, class: failureClass });
    });
  }

  for (const [reason, code] of Object.entries(NEWER_NAMES)) {
    it(`stands for its newer name: ${code} for ${reason}`, () => {
      const { message, class: failureClass } = describeFailure(code);
      assert.deepEqual(describeFailure(reason), { code, reason, message, class: failureClass });
    });
  }

  for (const reason of [...Object.keys({ ...SPECIFIED, ...NEWER_NAMES, ...PASSED_ON }), 'No word at all!']) {
    it(`tells the buyer what to change: ${reason}`, () => {
      const { message } = describeFailure(reason);
      assert.match(message, /^[A-Z`]/);
      assert.match(message, /\b(sign|choose|send|pay|fund)\b[^.]+\.$/i);
    });
  }

  it('may have a hundred characters', () => {
    assert.equal(describeFailure('a'.repeat(100)).code, 'a'.repeat(100));
    assert.equal(describeFailure('a'.repeat(101)).code, 'payment_failed');
  });

  for (const reason of [
    ...[undefined, '', 7, ['insufficient_funds'], 'Insufficient_Funds', 'insufficient funds'],
    ...['insufficient-funds', 'insufficient_funds\n', 'insufficient_funds\u0000', 'größe'],
  ]) {
    it(`is payment_failed for ${JSON.stringify(reason)}`, () => {
      const { message: _, ...failure } = describeFailure(reason);
      assert.deepEqual(failure, { code: 'payment_failed', reason: 'payment_failed', class: 'unknown' });
    });
  }

  for (const reason of ['constructor', '__proto__', 'tostring', 'has_own_property']) {
    it(`is an ordinary code: ${reason}`, () => {
      assert.equal(describeFailure(reason).code, reason);
      assert.equal(typeof describeFailure(reason).message, 'string');
    });
  }
});
