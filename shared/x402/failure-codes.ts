/**
 * Why a payment failed, as buyers see it. Facilitators use several names for one code of the specification; a code that
 * is not in this table is passed on unchanged. Facilitators' messages are never shown or logged: they quote the buyer's
 * signature.
 */
export interface Failure {
  code: string;
  /** The facilitator's own code, for the log. */
  reason: string;
  /** The text of the `error` field; it tells the buyer what to change. */
  message: string;
  class: FailureClass;
  /** It is unknown whether the money has moved, or it can still move. */
  isUncertain?: true;
}

/**
 * buyer: the buyer can correct it · settled_before: used before, or unclear · setup: a fault of the merchant, this
 * service or the facilitator, worth an alert · policy: the facilitator never serves this buyer's wallet · seller: it does not
 * serve the merchant or this service, which only the operator can mend · unknown: a code that is not in the table.
 */
export type FailureClass = 'buyer' | 'settled_before' | 'setup' | 'policy' | 'seller' | 'unknown';

const OTHER_ENTRY = 'Choose another entry of `accepts`.';
const NEW_PAYMENT = 'Sign a new payment.';
const ONE_SCHEME =
  'The scheme is not one that is offered. Pay an entry of `accepts`, whose scheme is `exact`.';

/** [code, class, message, other names for the code] */
type Row = [code: string, failureClass: FailureClass, message: string, names?: string[]];

const ROWS: Row[] = [
  [
    'insufficient_funds',
    'buyer',
    `The paying wallet does not hold enough of this token on this network. Fund it, or choose another entry of \`accepts\`.`,
    ['invalid_exact_evm_insufficient_balance', 'permit2_insufficient_balance'],
  ],
  [
    'invalid_exact_evm_payload_authorization_valid_after',
    'buyer',
    'The authorization is not valid yet: `validAfter` lies in the future. Sign one that is valid now.',
  ],
  [
    'invalid_exact_evm_payload_authorization_valid_before',
    'buyer',
    `The authorization has expired or is about to: \`validBefore\` is over. ${NEW_PAYMENT}`,
  ],
  [
    'invalid_exact_evm_payload_authorization_value',
    'buyer',
    'The authorization is not for the amount of this payment. Sign exactly the `amount` of the chosen entry.',
    [
      'invalid_exact_evm_payload_authorization_value_mismatch',
      'invalid_exact_evm_payload_authorization_value_too_low',
      'invalid_exact_evm_authorization_value',
    ],
  ],
  [
    'invalid_exact_evm_payload_signature',
    'buyer',
    "The signature is not the payer's for this token on this network. Sign under the domain in `extra`.",
    ['invalid_exact_evm_signature', 'invalid_exact_evm_failed_to_parse_signature'],
  ],
  [
    'invalid_exact_evm_payload_recipient_mismatch',
    'buyer',
    'The authorization pays another address. Sign the `payTo` of the chosen entry.',
    ['invalid_exact_evm_recipient_mismatch'],
  ],
  [
    'invalid_exact_svm_payload_transaction_instructions_length',
    'buyer',
    `The transaction does not hold what it may. Sign one of a compute unit limit, a compute unit price, one TransferChecked and, at most, a memo or a wallet's Lighthouse checks.`,
  ],
  [
    'invalid_network',
    'buyer',
    `The payment is not for a network that is offered here. ${OTHER_ENTRY}`,
    ['invalid_exact_evm_network_mismatch', 'invalid_exact_svm_network_mismatch'],
  ],
  [
    'invalid_payload',
    'buyer',
    '`payload` does not hold a payment for the network of the chosen entry. Send `signature` and `authorization`, whose numbers are strings of decimal digits, on EVM, and `transaction` on Solana.',
  ],
  [
    'invalid_payment_requirements',
    'buyer',
    '`accepted` is none of the entries that are offered. Send back one entry of `accepts` unchanged.',
  ],
  ['invalid_scheme', 'buyer', ONE_SCHEME, ['invalid_exact_evm_scheme']],
  ['unsupported_scheme', 'buyer', ONE_SCHEME, ['invalid_exact_svm_unsupported_scheme']],
  ['invalid_x402_version', 'buyer', 'Send a payment payload of x402 version 2.'],
  [
    'invalid_transaction_state',
    'settled_before',
    `The payment was used or cancelled before, or the network would not carry it out. ${NEW_PAYMENT}`,
    [
      'invalid_exact_evm_nonce_already_used',
      'invalid_exact_evm_transaction_failed',
      'invalid_exact_svm_transaction_failed',
      'duplicate_settlement',
    ],
  ],
  ['unexpected_verify_error', 'setup', `The payment service could not read this payment. ${NEW_PAYMENT}`],
  ['unexpected_settle_error', 'setup', `The payment service could not settle this payment. ${NEW_PAYMENT}`],
  [
    'payment_service_unavailable',
    'setup',
    'The payment service could not be reached, and no money moved. Pay again; the same signature may be sent once more.',
  ],
  // Newer codes, passed on unchanged.
  [
    'invalid_exact_evm_transaction_simulation_failed',
    'buyer',
    `The token would refuse this authorization. Check the wallet's balance, and sign a new payment.`,
  ],
  [
    'invalid_exact_svm_transaction_simulation_failed',
    'buyer',
    `The network would refuse this transaction. Check the balance and the token account, and sign with a new blockhash.`,
  ],
  [
    'invalid_exact_svm_payload_signature_invalid',
    'buyer',
    "The transaction does not carry the payer's signature. Sign it with the key of the paying wallet.",
  ],
  [
    'invalid_exact_svm_payload_amount_mismatch',
    'buyer',
    'The transaction is not for the right amount. Sign exactly the `amount` of the chosen entry.',
  ],
  [
    'invalid_exact_svm_payload_recipient_mismatch',
    'buyer',
    "The transaction pays another account. Sign a transfer into `payTo`'s associated token account.",
  ],
  [
    'invalid_exact_svm_payload_mint_mismatch',
    'buyer',
    'The transaction is in another token. Sign a transfer of the `asset` of the chosen entry.',
  ],
  ...setUp(
    'asset_not_deployed_contract',
    'invalid_exact_evm_eip3009_not_supported',
    'invalid_exact_evm_missing_eip712_domain',
    'invalid_exact_evm_token_name_mismatch',
    'invalid_exact_evm_token_version_mismatch',
    'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
    'invalid_exact_svm_invalid_fee_payer',
    'invalid_exact_svm_payload_missing_fee_payer',
    'invalid_exact_svm_payload_transaction_receiver_ata_not_found',
  ),
];

/** The codes with a sentence of their own, each once, for documentation. */
export function listFailureCodes(): Pick<Failure, 'code' | 'message'>[] {
  const described = ROWS.map(([code, , message]) => ({ code, message }));
  return [
    { code: OUTCOME_UNKNOWN, message: outcomeUnknown() },
    ...described,
    { code: UNNAMED, message: UNKNOWN },
  ];
}

/** A payment of a link that may have been taken. Its id is undefined when Postgres has no row of it. */
export interface UncertainPayment {
  paymentId?: string;
}

/** `paymentId` is of the payment whose outcome is unknown, where there is one. */
export function outcomeUnknown(paymentId?: string): string {
  const which = paymentId === undefined ? 'This payment' : `Payment ${paymentId}`;
  return `${which} may have been taken, and nobody can tell yet. Do not pay again before you have asked the merchant${paymentId === undefined ? '' : ', and name it'}.`;
}

const FAILURES = new Map<string, Failure>(
  ROWS.flatMap(([code, failureClass, message, names = []]) =>
    [code, ...names].map((reason): [string, Failure] => [
      reason,
      { code, reason, message, class: failureClass },
    ]),
  ),
);

/** The same code as in payments/states.ts, whose folder is above this one in the order of imports. */
const OUTCOME_UNKNOWN = 'outcome_unknown';
const PASSED_ON = /^[a-z0-9_]{1,100}$/;
/** The code for a reason that is not a code. */
const UNNAMED = 'payment_failed';
/** Screening of wallets. A word that names no side is about the payer. */
const POLICY = /(?:^|_)(?:kyt|sanction(?:s|ed)?|ofac)(?:_|$)/;
const SELLER = /_to_address_(?:kyt|sanction(?:s|ed)?|ofac)$|(?:^|_)registration_required$/;
const REFUSED_WALLET =
  'The payment service takes no payment from this wallet, and no money moved. Do not try this wallet again: pay from another one, or ask the merchant.';
const REFUSED_SELLER =
  'The payment service takes no payments for this merchant now, and no money moved. Ask the merchant, or try again later.';
const UNKNOWN = `The payment service refused this payment. ${OTHER_ENTRY}`;

/** The codes for this service's own knowledge of a session's payments. A facilitator knows nothing of sessions. */
export const OWN_CODES: ReadonlySet<unknown> = new Set([
  OUTCOME_UNKNOWN,
  'payment_processing',
  'payment_identifier_reused',
  'session_already_paid',
  'session_expired',
  'signature_already_used',
]);

/** `reason` is a facilitator's code or one of our own. */
export function describeFailure(reason: unknown): Failure {
  if (typeof reason !== 'string' || !PASSED_ON.test(reason)) {
    return { code: UNNAMED, reason: UNNAMED, message: UNKNOWN, class: 'unknown' };
  }
  if (reason === OUTCOME_UNKNOWN)
    return { code: reason, reason, message: outcomeUnknown(), class: 'settled_before', isUncertain: true };
  if (SELLER.test(reason)) return { code: reason, reason, message: REFUSED_SELLER, class: 'seller' };
  if (POLICY.test(reason)) return { code: reason, reason, message: REFUSED_WALLET, class: 'policy' };
  return FAILURES.get(reason) ?? { code: reason, reason, message: UNKNOWN, class: 'unknown' };
}

function setUp(...codes: string[]): Row[] {
  return codes.map((code) => [
    code,
    'setup',
    `This token cannot be taken on this network now. ${OTHER_ENTRY}`,
  ]);
}
