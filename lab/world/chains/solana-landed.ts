import type { VersionedMessage } from '@solana/web3.js';
import {
  type DescribedMessage,
  describeMessage,
  type SignedTransaction,
  type TransactionOutcome,
  transferred,
} from './solana-messages.js';

export type Commitment = 'processed' | 'confirmed' | 'finalized';

/** The number of slots until a transaction reaches a commitment. */
export const DEPTH: Record<Commitment, number> = { processed: 0, confirmed: 2, finalized: 32 };

export interface Landed extends SignedTransaction, TransactionOutcome {
  signature: string;
  slot: number;
  memo: string | null;
  /** The number of transactions that landed before it. */
  order: number;
}

/** The landed transactions, indexed by signature and by account. */
export class LandedTransactions {
  readonly #all: Landed[] = [];
  readonly #bySignature = new Map<string, Landed>();
  readonly #byAccount = new Map<string, Landed[]>();
  readonly #described = new WeakMap<VersionedMessage, DescribedMessage>();

  add(transaction: Omit<Landed, 'memo' | 'order'>): void {
    const { memo, accounts } = this.#describe(transaction);
    const landed = { ...transaction, memo, order: this.#all.length };
    this.#all.push(landed);
    this.#bySignature.set(landed.signature, landed);
    for (const account of accounts) {
      const listed = this.#byAccount.get(account);
      if (listed === undefined) this.#byAccount.set(account, [landed]);
      else listed.push(landed);
    }
  }

  find(signature: string): Landed | undefined {
    return this.#bySignature.get(signature);
  }

  /** Oldest first. */
  of(account: string): readonly Landed[] {
    return this.#byAccount.get(account) ?? [];
  }

  /** The sum of TransferChecked instructions into a token account. */
  received(account: string): bigint {
    const succeeded = this.#all.filter(({ error }) => error === null);
    return succeeded.reduce(
      (sum, { message, loaded }) => sum + (transferred(message, loaded).get(account) ?? 0n),
      0n,
    );
  }

  /** Transactions of one message share one description. */
  #describe({ message, loaded }: Pick<Landed, 'message' | 'loaded'>): DescribedMessage {
    const known = this.#described.get(message);
    if (known !== undefined) return known;
    const described = describeMessage(message, loaded);
    this.#described.set(message, described);
    return described;
  }
}

export function commitmentAt(age: number): Commitment {
  if (age >= DEPTH.finalized) return 'finalized';
  return age >= DEPTH.confirmed ? 'confirmed' : 'processed';
}
