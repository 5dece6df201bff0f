/** What the facilitator asks of a chain: to carry out what was signed, once. */
export interface WantedTransfer {
  nonce: string;
  transaction: string;
  from: string;
  to: string;
  amount: string;
  asset: string;
  /** On an EVM chain, in seconds: no block later than this takes it. */
  validBefore?: number | undefined;
  /** On Solana: what the buyer signed. */
  signedTransaction?: string | undefined;
}

export interface Carried {
  succeeded: boolean;
}
