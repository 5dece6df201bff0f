import type { FailureCause } from './causes.js';

/** The cause of a failure code, by the first pattern that matches: facilitators add new codes. */
const SUBJECTS: readonly [subject: RegExp, cause: FailureCause][] = [
  [/already_used|duplicate|invalid_nonce/, 'failedSpent'],
  [/insufficient|sender_ata_not_found/, 'failedFunds'],
  [/simulation/, 'failedSimulation'],
  [/compute|priority_fee/, 'failedFee'],
  [
    /instruction|memo|signers|program_not_allowed|transferring_funds|included_in|isolated|multiple_matching/,
    'failedAltered',
  ],
  [/1271|6492|smart_wallet|smart_account|contract_wallet/, 'failedContract'],
  [
    /fee_payer|name_mismatch|version_mismatch|eip712_domain|not_deployed|not_supported|receiver_ata|payments_unavailable/,
    'failedSetup',
  ],
  [/valid_after|not_yet_valid|too_early/, 'failedEarly'],
  [/valid_before|expired|block_height|deadline/, 'failedTime'],
  [/to_address_(?:kyt|sanction|ofac)|registration_required/, 'failedService'],
  [/kyt|sanction|ofac|compliance|blacklist|blocklist/, 'failedRefused'],
  [/network/, 'failedNetwork'],
  [/service_unavailable|rate_limit/, 'failedService'],
  [/unexpected_|internal_error|timed_out|not_confirmed/, 'failedFault'],
  [/signature/, 'failedSignature'],
  [/transaction_state|transaction_failed/, 'failedUsed'],
  [
    /recipient|value|amount|mint|token_mismatch|asset|requirements|scheme|payload|payment_|invalid_payment|version|transfer/,
    'failedChanged',
  ],
];

/** `code`: a failure code of this service or of a facilitator. */
export function causeOfCode(code: string): FailureCause {
  if (code === 'payment_failed') return 'failedOther';
  return SUBJECTS.find(([subject]) => subject.test(code))?.[1] ?? 'failedOther';
}
