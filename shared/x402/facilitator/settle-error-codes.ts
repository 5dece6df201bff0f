/**
 * The meaning of an error code in an answer of `/settle` that says failure and names no transaction. A code without an
 * entry in this file is unclear. Sources: the codes of the x402 specification (`spec`), the enumerations in Coinbase's API
 * reference (`cdp`), Circle's documentation (`circle`), and the reference implementations of x402 (`sdk`).
 *
 * refusal: a fault of the payment or of its requirements, which facilitators look for before they send anything ·
 * refusal_if_unused: an authorization that is used already gets it too · unclear: it may have been sent. Unclear is also
 * what a facilitator could not read or do itself, and the codes of schemes that are not offered.
 */
export type CodeMeaning = 'refusal' | 'refusal_if_unused' | 'unclear';

type Source = 'spec' | 'cdp' | 'circle' | 'sdk';

const CODES: readonly [meaning: CodeMeaning, sources: readonly Source[], codes: string][] = [
  [
    'refusal',
    ['spec'],
    `
      unsupported_scheme
    `,
  ],
  [
    'refusal',
    ['spec', 'cdp'],
    `
      invalid_exact_evm_payload_authorization_value invalid_exact_evm_payload_recipient_mismatch
      invalid_exact_evm_payload_signature invalid_network invalid_payment_requirements invalid_scheme
      invalid_x402_version
    `,
  ],
  [
    'refusal',
    ['spec', 'cdp', 'sdk'],
    `
      invalid_exact_evm_payload_authorization_valid_after invalid_exact_evm_payload_authorization_valid_before
      invalid_exact_svm_payload_transaction_instructions_length
    `,
  ],
  [
    'refusal',
    ['cdp', 'sdk'],
    `
      erc20_approval_asset_mismatch erc20_approval_from_mismatch erc20_approval_spender_not_permit2
      erc20_approval_tx_invalid_signature erc20_approval_tx_parse_failed erc20_approval_tx_signer_mismatch
      erc20_approval_tx_wrong_selector erc20_approval_tx_wrong_spender erc20_approval_tx_wrong_target
      invalid_erc20_approval_extension_format invalid_exact_evm_authorization_value
      invalid_exact_evm_eip3009_not_supported invalid_exact_evm_failed_to_parse_signature
      invalid_exact_evm_missing_eip712_domain invalid_exact_evm_network_mismatch
      invalid_exact_evm_payload_authorization_value_mismatch invalid_exact_evm_recipient_mismatch
      invalid_exact_evm_scheme invalid_exact_evm_signature invalid_exact_evm_token_name_mismatch
      invalid_exact_evm_token_version_mismatch invalid_exact_svm_payload_transaction
      invalid_exact_svm_payload_transaction_fee_payer_transferring_funds
      invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction
      invalid_exact_svm_payload_transaction_instructions_compute_price_instruction
      invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high
      invalid_permit2_recipient_mismatch invalid_permit2_signature invalid_permit2_spender
      permit2_2612_amount_mismatch permit2_amount_mismatch permit2_deadline_expired permit2_invalid_amount
      permit2_invalid_destination permit2_invalid_owner permit2_not_yet_valid permit2_payment_too_early
      permit2_proxy_not_deployed permit2_token_mismatch unsupported_payload_type
    `,
  ],
  [
    'refusal',
    ['cdp'],
    `
      amount_too_low invalid_amount invalid_bazaar_extension invalid_exact_evm_extra_field
      invalid_exact_evm_payload_authorization_from_address_kyt
      invalid_exact_evm_payload_authorization_to_address_kyt
      invalid_exact_evm_payload_authorization_typed_data_message
      invalid_exact_evm_payload_authorization_value_too_low invalid_exact_evm_payload_missing_signature
      invalid_exact_evm_payload_signature_address invalid_exact_evm_payload_undeployed_smart_wallet
      invalid_exact_evm_permit2_payload_amount invalid_exact_evm_permit2_payload_deadline
      invalid_exact_evm_permit2_payload_recipient invalid_exact_evm_permit2_payload_signature
      invalid_exact_evm_permit2_payload_spender invalid_exact_evm_permit2_payload_valid_after
      invalid_exact_evm_required_amount invalid_exact_evm_signature_format invalid_exact_evm_unsupported_scheme
      invalid_exact_solana_extra_field invalid_exact_solana_fee_payer_mismatch
      invalid_exact_solana_fee_payer_not_managed_by_facilitator invalid_exact_solana_invalid_fee_payer
      invalid_exact_solana_network_mismatch invalid_exact_solana_payload_amount_insufficient
      invalid_exact_solana_payload_memo_count invalid_exact_solana_payload_memo_mismatch
      invalid_exact_solana_payload_mint_mismatch invalid_exact_solana_payload_missing_fee_payer
      invalid_exact_solana_payload_no_transfer_instruction invalid_exact_solana_payload_recipient_mismatch
      invalid_exact_solana_payload_transaction invalid_exact_solana_payload_transaction_could_not_be_decoded
      invalid_exact_solana_payload_transaction_fee_payer_transferring_funds
      invalid_exact_solana_payload_transaction_instructions_compute_limit_instruction
      invalid_exact_solana_payload_transaction_instructions_compute_price_instruction
      invalid_exact_solana_payload_transaction_instructions_compute_price_instruction_too_high
      invalid_exact_solana_payload_transaction_instructions_length
      invalid_exact_solana_payload_unknown_fifth_instruction
      invalid_exact_solana_payload_unknown_fourth_instruction
      invalid_exact_solana_payload_unknown_sixth_instruction invalid_exact_solana_unsupported_scheme
      invalid_exact_svm_payload_transaction_amount_mismatch
      invalid_exact_svm_payload_transaction_cannot_derive_receiver_ata
      invalid_exact_svm_payload_transaction_create_ata_instruction
      invalid_exact_svm_payload_transaction_create_ata_instruction_incorrect_asset
      invalid_exact_svm_payload_transaction_create_ata_instruction_incorrect_payee
      invalid_exact_svm_payload_transaction_fee_payer_included_in_instruction_accounts
      invalid_exact_svm_payload_transaction_instruction_not_spl_token_transfer_checked
      invalid_exact_svm_payload_transaction_instruction_not_token_2022_transfer_checked
      invalid_exact_svm_payload_transaction_instructions
      invalid_exact_svm_payload_transaction_not_a_transfer_instruction
      invalid_exact_svm_payload_transaction_receiver_ata_not_found
      invalid_exact_svm_payload_transaction_transfer_to_incorrect_ata kyt_risk_detected permit2_disabled
      request_blocked_by_location self_send_not_allowed
    `,
  ],
  [
    'refusal',
    ['circle'],
    `
      registration_required
    `,
  ],
  [
    'refusal',
    ['sdk'],
    `
      asset_not_deployed_contract eip2612_asset_mismatch eip2612_deadline_expired eip2612_from_mismatch
      eip2612_spender_not_permit2 eip6492_factory_not_allowed erc20_approval_tx_invalid_calldata
      invalid_eip2612_extension_format invalid_exact_svm_fee_payer_mismatch
      invalid_exact_svm_fee_payer_not_managed_by_facilitator invalid_exact_svm_network_mismatch
      invalid_exact_svm_payload_amount_mismatch invalid_exact_svm_payload_excessive_signers
      invalid_exact_svm_payload_memo_count invalid_exact_svm_payload_memo_mismatch
      invalid_exact_svm_payload_mint_mismatch invalid_exact_svm_payload_missing_fee_payer
      invalid_exact_svm_payload_no_transfer_instruction invalid_exact_svm_payload_recipient_mismatch
      invalid_exact_svm_payload_signature_invalid invalid_exact_svm_payload_transaction_could_not_be_decoded
      invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high
      invalid_exact_svm_payload_unknown_fifth_instruction invalid_exact_svm_payload_unknown_fourth_instruction
      invalid_exact_svm_payload_unknown_optional_instruction invalid_exact_svm_payload_unknown_seventh_instruction
      invalid_exact_svm_payload_unknown_sixth_instruction
      invalid_exact_svm_smart_wallet_cannot_derive_destination_ata
      invalid_exact_svm_smart_wallet_compute_budget_violation
      invalid_exact_svm_smart_wallet_compute_units_too_high invalid_exact_svm_smart_wallet_fee_payer_not_isolated
      invalid_exact_svm_smart_wallet_malformed_compute_budget
      invalid_exact_svm_smart_wallet_malformed_compute_limit
      invalid_exact_svm_smart_wallet_malformed_compute_price
      invalid_exact_svm_smart_wallet_multiple_matching_transfers
      invalid_exact_svm_smart_wallet_priority_fee_too_high invalid_exact_svm_smart_wallet_program_not_allowed
      invalid_exact_svm_smart_wallet_transfer_mismatch
      invalid_exact_svm_smart_wallet_unsupported_compute_budget_instruction invalid_exact_svm_unsupported_scheme
    `,
  ],
  [
    'refusal_if_unused',
    ['spec'],
    `
      unexpected_settle_error unexpected_verify_error
    `,
  ],
  [
    'refusal_if_unused',
    ['spec', 'cdp'],
    `
      insufficient_funds invalid_payload
    `,
  ],
  [
    'refusal_if_unused',
    ['spec', 'sdk'],
    `
      invalid_transaction_state
    `,
  ],
  [
    'refusal_if_unused',
    ['cdp', 'sdk'],
    `
      invalid_exact_evm_insufficient_balance invalid_exact_evm_transaction_simulation_failed
      permit2_allowance_required permit2_insufficient_balance permit2_simulation_failed
    `,
  ],
  [
    'refusal_if_unused',
    ['cdp'],
    `
      invalid_exact_evm_insufficient_funds invalid_exact_evm_payload
      invalid_exact_evm_permit2_payload_allowance_required invalid_exact_evm_transaction_state
      invalid_exact_solana_transaction_simulation_failed
      invalid_exact_svm_payload_transaction_sender_ata_not_found
      invalid_exact_svm_payload_transaction_simulation_failed
    `,
  ],
  [
    'refusal_if_unused',
    ['sdk'],
    `
      invalid_exact_svm_smart_wallet_no_transfer_in_simulation invalid_exact_svm_smart_wallet_simulation_failed
      invalid_exact_svm_transaction_simulation_failed
    `,
  ],
  [
    'unclear',
    ['cdp', 'sdk'],
    `
      duplicate_settlement erc20_approval_broadcast_failed erc20_approval_tx_failed
      invalid_exact_evm_nonce_already_used invalid_exact_evm_transaction_failed permit2_invalid_nonce
      settlement_pending smart_wallet_deployment_failed
    `,
  ],
  [
    'unclear',
    ['cdp'],
    `
      batch_settlement_channel_busy batch_settlement_charge_exceeds_signed_cumulative
      batch_settlement_cumulative_amount_mismatch batch_settlement_refund_amount_exceeds_balance
      batch_settlement_refund_amount_invalid batch_settlement_refund_no_balance
      erc20_approval_insufficient_eth_for_gas invalid_batch_settlement_evm_authorizer_address_mismatch
      invalid_batch_settlement_evm_channel_id_mismatch invalid_batch_settlement_evm_channel_not_found
      invalid_batch_settlement_evm_channel_state_read_failed invalid_batch_settlement_evm_claim_payload
      invalid_batch_settlement_evm_claim_simulation_failed invalid_batch_settlement_evm_claim_transaction_failed
      invalid_batch_settlement_evm_cumulative_below_claimed
      invalid_batch_settlement_evm_cumulative_exceeds_balance invalid_batch_settlement_evm_deposit_payload
      invalid_batch_settlement_evm_deposit_simulation_failed
      invalid_batch_settlement_evm_deposit_transaction_failed invalid_batch_settlement_evm_eip2612_amount_mismatch
      invalid_batch_settlement_evm_eip2612_asset_mismatch invalid_batch_settlement_evm_eip2612_deadline_expired
      invalid_batch_settlement_evm_eip2612_invalid_format invalid_batch_settlement_evm_eip2612_invalid_signature
      invalid_batch_settlement_evm_eip2612_owner_mismatch invalid_batch_settlement_evm_eip2612_spender_mismatch
      invalid_batch_settlement_evm_erc20_approval_asset_mismatch
      invalid_batch_settlement_evm_erc20_approval_broadcast_failed
      invalid_batch_settlement_evm_erc20_approval_from_mismatch
      invalid_batch_settlement_evm_erc20_approval_invalid_format
      invalid_batch_settlement_evm_erc20_approval_unavailable
      invalid_batch_settlement_evm_erc20_approval_wrong_spender
      invalid_batch_settlement_evm_erc3009_authorization_required
      invalid_batch_settlement_evm_insufficient_balance invalid_batch_settlement_evm_missing_eip712_domain
      invalid_batch_settlement_evm_network_mismatch invalid_batch_settlement_evm_payload_authorization_valid_after
      invalid_batch_settlement_evm_payload_authorization_valid_before invalid_batch_settlement_evm_payload_type
      invalid_batch_settlement_evm_permit2_allowance_required invalid_batch_settlement_evm_permit2_amount_mismatch
      invalid_batch_settlement_evm_permit2_authorization_required
      invalid_batch_settlement_evm_permit2_deadline_expired invalid_batch_settlement_evm_permit2_invalid_signature
      invalid_batch_settlement_evm_permit2_invalid_spender
      invalid_batch_settlement_evm_receive_authorization_signature
      invalid_batch_settlement_evm_receiver_authorizer_mismatch invalid_batch_settlement_evm_receiver_mismatch
      invalid_batch_settlement_evm_refund_payload invalid_batch_settlement_evm_refund_simulation_failed
      invalid_batch_settlement_evm_refund_transaction_failed invalid_batch_settlement_evm_rpc_read_failed
      invalid_batch_settlement_evm_scheme invalid_batch_settlement_evm_settle_payload
      invalid_batch_settlement_evm_settle_simulation_failed invalid_batch_settlement_evm_settle_transaction_failed
      invalid_batch_settlement_evm_token_mismatch invalid_batch_settlement_evm_transaction_reverted
      invalid_batch_settlement_evm_unknown_settle_action invalid_batch_settlement_evm_voucher_payload
      invalid_batch_settlement_evm_voucher_signature invalid_batch_settlement_evm_wait_for_receipt_failed
      invalid_batch_settlement_evm_withdraw_delay_mismatch
      invalid_batch_settlement_evm_withdraw_delay_out_of_range invalid_exact_evm_failed_to_check_deployment
      invalid_exact_evm_failed_to_check_nonce invalid_exact_evm_failed_to_execute_transfer
      invalid_exact_evm_failed_to_get_balance invalid_exact_evm_failed_to_get_network_config
      invalid_exact_evm_failed_to_get_receipt invalid_exact_evm_failed_to_verify_signature
      invalid_exact_evm_verification_failed invalid_exact_solana_transaction_confirmation_failed
      invalid_exact_solana_transaction_failed invalid_exact_solana_transaction_signing_failed
      invalid_exact_solana_verification_failed missing_batch_settlement_channel preflight_validation_failed
      settle_exact_evm_transaction_confirmation_timed_out settle_exact_failed_onchain settle_exact_node_failure
      settle_exact_svm_block_height_exceeded settle_exact_svm_transaction_confirmation_timed_out unknown_error
    `,
  ],
  [
    'unclear',
    ['sdk'],
    `
      invalid_exact_evm_transfer_event_mismatch invalid_exact_svm_smart_wallet_alt_resolution_failed
      invalid_exact_svm_smart_wallet_alt_resolution_not_available invalid_exact_svm_transaction_failed
      invalid_exact_svm_verification_failed post_settlement_transfer_not_confirmed upto_amount_exceeds_permitted
      upto_unauthorized_facilitator
    `,
  ],
];

interface SettleErrorCode {
  meaning: CodeMeaning;
  sources: readonly Source[];
}

export const SETTLE_ERROR_CODES: ReadonlyMap<string, SettleErrorCode> = new Map(
  CODES.flatMap(([meaning, sources, codes]) =>
    codes
      .trim()
      .split(/\s+/)
      .map((code): [string, SettleErrorCode] => [code, { meaning, sources }]),
  ),
);

export function meaningOf(code: unknown): CodeMeaning {
  return (typeof code === 'string' && SETTLE_ERROR_CODES.get(code)?.meaning) || 'unclear';
}
