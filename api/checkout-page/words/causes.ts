import type { ScriptWords } from './script-words.js';

/**
 * Causes of failure, each named after its text, with the text of the buyer's next step. A cause that repeating cannot fix
 * does not lead to a text of NEXT_TIME.
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

/** Causes of a payment that was sent and failed. */
export type FailureCause = Cause & `failed${string}`;

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

/** Causes of errors without a known code, by message. */
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
