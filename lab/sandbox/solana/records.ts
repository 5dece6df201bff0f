import type { TransactionError } from './transaction-error.js';

/** The cluster's persisted state: plain JSON, one record per journal line. */
export interface AccountRecord {
  address: string;
  /** The program that owns the account. */
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

/** The `meta` of an RPC node's answer. */
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
  /** The serialized transaction, base64. */
  wire: string;
  slot: number;
  landedAtMs: number;
  accounts: string[];
  meta: TransactionMeta;
}

/**
 * A change of the cluster: the changed accounts, and the transaction that changed them unless the sandbox funded a wallet.
 */
export interface JournalEntry {
  accounts: AccountRecord[];
  transaction?: LandedTransaction;
}
