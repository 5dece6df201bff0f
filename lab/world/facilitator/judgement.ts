/** A movement of money by the fake facilitator. */
export interface Movement {
  network: string;
  asset: string;
  from: string;
  to: string;
  amount: bigint;
  transaction: string;
  /** The authorization's nonce, or the hash of the Solana message. */
  paymentId: string;
}

export interface RuleOptions {
  /** Verifies signatures too. */
  strict: boolean;
  feePayers: readonly string[];
  /** Every network when undefined. */
  networks?: readonly string[] | undefined;
  /** Runs before the answer, so that a fake chain has the movement first. */
  onSettled?: ((movement: Movement) => void | Promise<void>) | undefined;
}

export interface Judgement {
  /** Undefined when the payment is valid. */
  reason?: string;
  payer: string;
}

/** Checks run in order; the first that fails gives the reason. */
type Check = [reason: string, holds: boolean];

export function judge(checks: Check[], payer: string): Judgement {
  const failed = checks.find(([, holds]) => !holds);
  return failed === undefined ? { payer } : { reason: failed[0], payer };
}
