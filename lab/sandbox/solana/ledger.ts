import { createHash } from 'node:crypto';
import { getTransactionDecoder, type Transaction } from '@solana/kit';
import { VersionedTransaction } from '@solana/web3.js';
import { Clock, FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from 'litesvm';
import { nowMs } from '../../../shared/process/clock.js';
import { type AccountStore, createAccountStore } from './account-store.js';
import { toBase58 } from './base58.js';
import type { Journal } from './journal.js';
import type { InnerInstructions, LandedTransaction, TransactionMeta } from './records.js';
import { isBlockhashValid, slotAt } from './slots.js';
import { readTransactionError, type TransactionError } from './transaction-error.js';

/**
 * A Solana cluster of one node: programs run in LiteSVM, which knows no blocks; what a cluster adds to that is here.
 * A message lands at most once, whoever pays its fee; it lands while its blockhash is good, or never.
 */
export interface Ledger {
  accounts: AccountStore;
  simulate(wire: Uint8Array, checks: { signatures: boolean }): Simulation;
  /** Takes it in any case; it lands now, when blocks go on, or never. Gives its signature. */
  send(wire: Uint8Array): string;
  find(signature: string): LandedTransaction | undefined;
  /** Newest first. */
  listByAccount(address: string): readonly LandedTransaction[];
  /** Blocks stop; what is sent waits. */
  halt(): void;
  resume(): void;
  /** Forgets what waits. */
  dropWaiting(): void;
}

export interface Simulation {
  err: TransactionError | null;
  logs: string[];
  unitsConsumed: number;
  innerInstructions: InnerInstructions[];
}

interface Decoded {
  wire: Uint8Array;
  transaction: Transaction;
  signature: string;
  messageHash: string;
  blockhash: string;
  keys: string[];
  signers: number;
}

const LAMPORTS_PER_SIGNATURE = 5000;
/** These never reach a block. */
const NEVER_LANDS: ReadonlySet<unknown> = new Set([
  'SignatureFailure',
  'BlockhashNotFound',
  'AlreadyProcessed',
]);

export function openLedger(journal: Journal): Ledger {
  const svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n);
  const accounts = createAccountStore(svm, journal);
  const landed = new Map<string, LandedTransaction>();
  const byAccount = new Map<string, LandedTransaction[]>();
  const landedMessages = new Set<string>();
  let waiting: Decoded[] = [];
  let halted = false;

  function remember(record: LandedTransaction, messageHash: string): void {
    landed.set(record.signature, record);
    landedMessages.add(messageHash);
    for (const account of record.accounts) {
      const list = byAccount.get(account);
      if (list === undefined) byAccount.set(account, [record]);
      else list.push(record);
    }
  }

  for (const entry of journal.entries) {
    accounts.restore(entry.accounts);
    const { transaction } = entry;
    if (transaction !== undefined)
      remember(transaction, decode(Buffer.from(transaction.wire, 'base64')).messageHash);
  }

  function refusal({ blockhash, messageHash }: Decoded): TransactionError | undefined {
    if (!isBlockhashValid(blockhash, slotAt(nowMs()))) return 'BlockhashNotFound';
    return landedMessages.has(messageHash) ? 'AlreadyProcessed' : undefined;
  }

  function land(decoded: Decoded): void {
    if (refusal(decoded) !== undefined) return;
    setClock(svm);
    const before = accounts.balances(decoded.keys);
    const result = svm.withSigverify(true).sendTransaction(decoded.transaction);
    const failed = result instanceof FailedTransactionMetadata;
    const err = failed ? readTransactionError(result) : null;
    if (NEVER_LANDS.has(err)) return;
    const after = accounts.balances(decoded.keys);
    const metadata = failed ? result.meta() : result;
    const meta: TransactionMeta = {
      err,
      status: err === null ? { Ok: null } : { Err: err },
      fee: LAMPORTS_PER_SIGNATURE * decoded.signers,
      preBalances: before.lamports,
      postBalances: after.lamports,
      preTokenBalances: before.tokens,
      postTokenBalances: after.tokens,
      logMessages: metadata.logs(),
      innerInstructions: readInnerInstructions(metadata),
      computeUnitsConsumed: Number(metadata.computeUnitsConsumed()),
      loadedAddresses: { readonly: [], writable: [] },
      rewards: [],
    };
    const transaction: LandedTransaction = {
      signature: decoded.signature,
      wire: Buffer.from(decoded.wire).toString('base64'),
      slot: slotAt(nowMs()),
      landedAtMs: nowMs(),
      accounts: decoded.keys,
      meta,
    };
    journal.append({ accounts: accounts.records(decoded.keys), transaction });
    remember(transaction, decoded.messageHash);
  }

  return {
    accounts,
    simulate(wire, { signatures }) {
      const decoded = decode(wire);
      const err = refusal(decoded);
      if (err !== undefined) return { err, logs: [], unitsConsumed: 0, innerInstructions: [] };
      setClock(svm);
      const result = svm.withSigverify(signatures).simulateTransaction(decoded.transaction);
      const failed = result instanceof FailedTransactionMetadata;
      const metadata = result.meta();
      return {
        err: failed ? readTransactionError(result) : null,
        logs: metadata.logs(),
        unitsConsumed: Number(metadata.computeUnitsConsumed()),
        innerInstructions: readInnerInstructions(metadata),
      };
    },
    send(wire) {
      const decoded = decode(wire);
      if (halted) waiting.push(decoded);
      else land(decoded);
      return decoded.signature;
    },
    find: (signature) => landed.get(signature),
    listByAccount: (address) => (byAccount.get(address) ?? []).toReversed(),
    halt() {
      halted = true;
    },
    resume() {
      halted = false;
      const due = waiting;
      waiting = [];
      for (const decoded of due) land(decoded);
    },
    dropWaiting() {
      waiting = [];
    },
  };
}

/** Programs are to see the time that everybody sees. */
function setClock(svm: LiteSVM): void {
  const slot = BigInt(slotAt(nowMs()));
  const epoch = slot / 432_000n;
  svm.setClock(new Clock(slot, 0n, epoch, epoch + 1n, BigInt(Math.floor(nowMs() / 1000))));
}

/** Throws on what is no transaction. */
function decode(wire: Uint8Array): Decoded {
  const { message, signatures } = VersionedTransaction.deserialize(wire);
  const transaction = getTransactionDecoder().decode(wire);
  return {
    wire,
    transaction,
    signature: toBase58(signatures[0] ?? new Uint8Array()),
    messageHash: createHash('sha256').update(Uint8Array.from(transaction.messageBytes)).digest('hex'),
    blockhash: message.recentBlockhash,
    keys: message.staticAccountKeys.map((key) => key.toBase58()),
    signers: message.header.numRequiredSignatures,
  };
}

function readInnerInstructions(metadata: TransactionMetadata): InnerInstructions[] {
  const groups = metadata.innerInstructions().map((list, index) => ({
    index,
    instructions: list.map((inner) => {
      const instruction = inner.instruction();
      return {
        programIdIndex: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: toBase58(instruction.data()),
        stackHeight: inner.stackHeight(),
      };
    }),
  }));
  return groups.filter(({ instructions }) => instructions.length > 0);
}
