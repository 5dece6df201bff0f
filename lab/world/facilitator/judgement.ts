/** Money that the fake facilitator moved. */
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
  /** Judges signatures too. */
  strict: boolean;
  feePayers: readonly string[];
  /** All, when undefined. */
  networks: readonly string[] | undefined;
}

export interface Judgement {
  /** Undefined when the payment is good. */
  reason?: string;
  payer: string;
}

/** In the order in which they are looked at. */
export type Check = [reason: string, holds: boolean];

export function judge(checks: Check[], payer: string): Judgement {
  const failed = checks.find(([, holds]) => !holds);
  return failed === undefined ? { payer } : { reason: failed[0], payer };
}
