import type { TransactionError } from './transaction-error.js';

/** What is kept of the cluster: plain JSON, so that a journal line holds one. */
export interface AccountRecord {
  address: string;
  /** The program that it belongs to. */
  owner: string;
  lamports: number;
  executable: boolean;
  /** Base64. */
  data: string;
}

export interface TokenBalance {
  accountIndex: number;
  mint: string;
  owner: string;
  programId: string;
  uiTokenAmount: object;
}

export interface InnerInstructions {
  index: number;
  instructions: { programIdIndex: number; accounts: number[]; data: string; stackHeight: number }[];
}

/** As in a node's answer. */
export interface TransactionMeta {
  err: TransactionError | null;
  status: { Ok: null } | { Err: TransactionError };
  fee: number;
  preBalances: number[];
  postBalances: number[];
  preTokenBalances: TokenBalance[];
  postTokenBalances: TokenBalance[];
  logMessages: string[];
  innerInstructions: InnerInstructions[];
  computeUnitsConsumed: number;
  loadedAddresses: { readonly: []; writable: [] };
  rewards: [];
}

export interface LandedTransaction {
  signature: string;
  /** As it came over the wire, base64. */
  wire: string;
  slot: number;
  landedAtMs: number;
  accounts: string[];
  meta: TransactionMeta;
}

/** One step of the cluster: what changed, and the transaction that changed it unless it was a gift. */
export interface JournalEntry {
  accounts: AccountRecord[];
  transaction?: LandedTransaction;
}
