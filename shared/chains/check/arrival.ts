import type { Hex } from 'viem';

/** A transfer to a wallet as its chain shows it, whether or not Postgres has a payment for it. */
export interface Arrival {
  /** CAIP-2. */
  network: string;
  /** Token contract or mint, spelled as in the token table. */
  asset: string;
  /** Null when a Solana transaction does not show who paid. */
  payer: string | null;
  /** The wallet; with its checksum on EVM. */
  payTo: string;
  amount: bigint;
  transaction: string;
  /** EVM: the block's number. Solana: the slot. */
  height: number;
  /** EVM: the Transfer's log index in its block. Solana: the instruction's index in the transaction. */
  proofIndex: number;
  /** EVM: the nonce. Solana: the memos. */
  references: readonly string[];
  /** Undefined when the transfer differs from what the payer has authorized. */
  payload: EvmPayloadOnChain | SvmPayloadOnChain | undefined;
  /** Undefined: not read yet. */
  at: Date | undefined;
}

interface EvmPayloadOnChain {
  family: 'evm';
  from: Hex;
  nonce: Hex;
}

interface SvmPayloadOnChain {
  family: 'svm';
  messageHash: string;
  /** Base64, without the signatures. */
  transactionBase64: string;
}
