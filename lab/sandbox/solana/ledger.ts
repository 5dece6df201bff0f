import type { LiteSVM } from 'litesvm';
import { nowMs } from '../../../shared/process/clock.js';
import { type AccountStore, type Balances, createAccountStore } from './account-store.js';
import type { Journal } from './journal.js';
import type { LandedTransaction, TransactionMeta } from './records.js';
import {
  createRuntime,
  type DecodedTransaction,
  decodeTransaction,
  type Execution,
  execute,
  simulate,
} from './runtime.js';
import { isBlockhashValid, slotAt } from './slots.js';
import type { TransactionError } from './transaction-error.js';

const LAMPORTS_PER_SIGNATURE = 5000;
/** A node drops a transaction that fails with one of these; any other failure lands in a block. */
const NEVER_LANDS: ReadonlySet<unknown> = new Set([
  'SignatureFailure',
  'BlockhashNotFound',
  'AlreadyProcessed',
]);

/**
 * A Solana cluster of one node. LiteSVM runs the programs and knows no blocks; this class adds slots, blockhashes and
 * the rule that a message lands at most once: while its blockhash is valid, or never.
 */
export class Ledger {
  readonly accounts: AccountStore;
  readonly #svm: LiteSVM;
  readonly #journal: Journal;
  readonly #landed = new Map<string, LandedTransaction>();
  readonly #byAccount = new Map<string, LandedTransaction[]>();
  readonly #landedMessages = new Set<string>();
  #pending: DecodedTransaction[] = [];
  #isHalted = false;

  constructor(journal: Journal) {
    this.#journal = journal;
    this.#svm = createRuntime();
    this.accounts = createAccountStore(this.#svm, journal);
    for (const { accounts, transaction } of journal.entries) {
      this.accounts.restore(accounts);
      if (transaction === undefined) continue;
      this.#index(transaction, decodeTransaction(Buffer.from(transaction.wire, 'base64')).messageHash);
    }
  }

  simulate(wire: Uint8Array, checks: { signatures: boolean }): Execution {
    const decoded = decodeTransaction(wire);
    const err = this.#refusalOf(decoded);
    if (err !== undefined) return { err, logs: [], unitsConsumed: 0, innerInstructions: [] };
    return simulate(this.#svm, decoded, checks);
  }

  /** Accepts any transaction and returns its signature. It lands now or, while halted, on `resume`; or never. */
  send(wire: Uint8Array): string {
    const decoded = decodeTransaction(wire);
    if (this.#isHalted) this.#pending.push(decoded);
    else this.#land(decoded);
    return decoded.signature;
  }

  find(signature: string): LandedTransaction | undefined {
    return this.#landed.get(signature);
  }

  /** Newest first. */
  listByAccount(address: string): readonly LandedTransaction[] {
    return (this.#byAccount.get(address) ?? []).toReversed();
  }

  /** Stops block production: transactions that are sent stay pending. */
  halt(): void {
    this.#isHalted = true;
  }

  resume(): void {
    this.#isHalted = false;
    for (const decoded of this.#pending.splice(0)) this.#land(decoded);
  }

  dropPending(): void {
    this.#pending = [];
  }

  #land(decoded: DecodedTransaction): void {
    if (this.#refusalOf(decoded) !== undefined) return;
    const before = this.accounts.balances(decoded.keys);
    const execution = execute(this.#svm, decoded);
    if (NEVER_LANDS.has(execution.err)) return;
    const after = this.accounts.balances(decoded.keys);
    const transaction: LandedTransaction = {
      signature: decoded.signature,
      wire: Buffer.from(decoded.wire).toString('base64'),
      slot: slotAt(nowMs()),
      landedAtMs: nowMs(),
      accounts: decoded.keys,
      meta: buildMeta(decoded, execution, before, after),
    };
    this.#journal.append({ accounts: this.accounts.records(decoded.keys), transaction });
    this.#index(transaction, decoded.messageHash);
  }

  #refusalOf({ blockhash, messageHash }: DecodedTransaction): TransactionError | undefined {
    if (!isBlockhashValid(blockhash, slotAt(nowMs()))) return 'BlockhashNotFound';
    return this.#landedMessages.has(messageHash) ? 'AlreadyProcessed' : undefined;
  }

  #index(record: LandedTransaction, messageHash: string): void {
    this.#landed.set(record.signature, record);
    this.#landedMessages.add(messageHash);
    for (const account of record.accounts) {
      const list = this.#byAccount.get(account);
      if (list === undefined) this.#byAccount.set(account, [record]);
      else list.push(record);
    }
  }
}

function buildMeta(
  { signers }: DecodedTransaction,
  { err, logs, innerInstructions, unitsConsumed }: Execution,
  before: Balances,
  after: Balances,
): TransactionMeta {
  return {
    err,
    status: err === null ? { Ok: null } : { Err: err },
    fee: LAMPORTS_PER_SIGNATURE * signers,
    preBalances: before.lamports,
    postBalances: after.lamports,
    preTokenBalances: before.tokens,
    postTokenBalances: after.tokens,
    logMessages: logs,
    innerInstructions,
    computeUnitsConsumed: unitsConsumed,
    loadedAddresses: { readonly: [], writable: [] },
    rewards: [],
  };
}
