import type { ScriptWords } from './script-words.js';

/**
 * Causes of failure, each named after its text, with the text that says what the buyer can do. A cause that
 * repeating cannot fix does not lead to a text of NEXT_TIME.
 */
export const NEXT_STEPS = {
  failedFunds: 'notEnoughAnywhere',
  failedSimulation: 'nextOnce',
  failedFee: 'nextFee',
  failedAltered: 'nextWallet',
  failedContract: 'nextWallet',
  failedSetup: 'nextToken',
  failedEarly: 'nextLater',
  failedTime: 'nextAgain',
  failedRefused: 'nextWallet',
  failedNetwork: 'nextNetwork',
  failedService: 'nextLater',
  failedFault: 'nextLater',
  failedSignature: 'nextWallet',
  failedSpent: 'nextAgain',
  failedUsed: 'nextAgain',
  failedChanged: 'nextReload',
  failedOther: 'notEnoughAnywhere',

  declined: 'nextAgain',
  cancelled: 'closeWallet',
  walletPending: 'nextAnswer',
  walletNoMethod: 'nextWallet',
  walletNoTyped: 'nextWallet',
  walletNoNetwork: 'nextNetwork',
  walletLocked: 'nextUnlock',
  walletNotAllowed: 'nextAllow',
  walletOffline: 'nextConnection',
  walletFailed: 'nextUnlock',
  noAccount: 'nextAllow',
  accountChanged: 'nextAgain',
  accountGone: 'nextAllow',
  otherAccountHow: 'nextAgain',
  wrongNetwork: 'nextNetwork',
  notEnough: 'notEnoughAnywhere',
  enoughNowhere: 'nextFunds',

  otherPaid: 'closeWallet',
  otherPaying: 'closeWallet',
  overMeanwhile: 'closeWallet',
} as const satisfies Partial<Record<keyof ScriptWords, keyof ScriptWords>>;

export type Cause = keyof typeof NEXT_STEPS;

/** The next steps that repeat the payment with the same wallet. */
export const NEXT_TIME = [
  'nextAgain',
  'nextOnce',
  'nextLater',
  'nextUnlock',
  'nextAnswer',
  'nextAllow',
  'nextConnection',
] as const satisfies (typeof NEXT_STEPS)[Cause][];

/** The cause of a failure code, by the first pattern that matches: facilitators add new codes. */
const SUBJECTS: readonly [subject: RegExp, cause: Cause & `failed${string}`][] = [
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
export function causeOfCode(code: string): Cause & `failed${string}` {
  if (code === 'payment_failed') return 'failedOther';
  return SUBJECTS.find(([subject]) => subject.test(code))?.[1] ?? 'failedOther';
}

/** Error codes of EIP-1193, EIP-1474 and EIP-3085 (4902), and the codes of ethers and Trust Wallet for 4001. */
const CODES: Readonly<Record<string, Cause>> = {
  4001: 'declined',
  4001000: 'declined',
  5000: 'declined',
  ACTION_REJECTED: 'declined',
  '-32002': 'walletPending',
  4100: 'walletNotAllowed',
  4200: 'walletNoMethod',
  '-32004': 'walletNoMethod',
  '-32601': 'walletNoMethod',
  4900: 'walletOffline',
  4901: 'walletOffline',
  4902: 'walletNoNetwork',
};

/** For errors without a known code. */
const MESSAGES: readonly [message: RegExp, cause: Cause][] = [
  [/already (pending|processing)/i, 'walletPending'],
  [/reject|denied|declined|cancell?ed|(plugin|popup|window) closed/i, 'declined'],
  [/\blocked\b|unlock|0x5515/i, 'walletLocked'],
  [/typed.?data|eip-?712|blind.?sign|contract data|0x6a80/i, 'walletNoTyped'],
  [/disconnected/i, 'walletOffline'],
];

const OF_STEP: Readonly<Record<string, Cause>> = { switching: 'walletNoNetwork', signing: 'walletNoTyped' };
const DEPTH = 3;

/** The cause of an error that a wallet threw at this step. Some wallets wrap the standard error. */
export function causeOfWalletError(
  error: unknown,
  step: 'connecting' | 'looking' | 'switching' | 'signing',
): Cause | undefined {
  let inner = error;
  for (let depth = 0; depth < DEPTH; depth += 1) {
    const { code, message, data, cause } = Object(inner) as Record<string, unknown>;
    const found =
      CODES[String(code)] ?? MESSAGES.find(([pattern]) => pattern.test(String(message ?? '')))?.[1];
    if (found !== undefined) return found === 'walletNoMethod' ? (OF_STEP[step] ?? found) : found;
    inner = (Object(data) as { originalError?: unknown }).originalError ?? cause;
  }
  return undefined;
}
