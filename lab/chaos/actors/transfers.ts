/** A transfer that the facilitator merchant a chain to execute once. */
export interface WantedTransfer {
  nonce: string;
  transaction: string;
  from: string;
  to: string;
  amount: string;
  asset: string;
  /** EVM only, in seconds: no later block accepts the authorization. */
  validBefore?: number | undefined;
  /** Solana only: the transaction as the buyer signed it. */
  signedTransaction?: string | undefined;
}

export interface Executed {
  succeeded: boolean;
}
