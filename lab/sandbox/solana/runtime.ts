import { createHash } from 'node:crypto';
import { getTransactionDecoder, type Transaction } from '@solana/kit';
import { VersionedTransaction } from '@solana/web3.js';
import { Clock, FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from 'litesvm';
import { nowMs } from '../../../shared/process/clock.js';
import { toBase58 } from '../../world/chains/base58.js';
import type { InnerInstructions } from './records.js';
import { slotAt } from './slots.js';
import { readTransactionError, type TransactionError } from './transaction-error.js';

const SLOTS_PER_EPOCH = 432_000n;

export interface DecodedTransaction {
  wire: Uint8Array;
  transaction: Transaction;
  signature: string;
  messageHash: string;
  blockhash: string;
  keys: string[];
  signers: number;
}

/** The result of running a transaction's programs. */
export interface Execution {
  err: TransactionError | null;
  logs: string[];
  unitsConsumed: number;
  innerInstructions: InnerInstructions[];
}

/** LiteSVM without its own blockhash check and history: the ledger has both. */
export function createRuntime(): LiteSVM {
  return new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n);
}

/** Runs a transaction and keeps its changes. */
export function execute(svm: LiteSVM, { transaction }: DecodedTransaction): Execution {
  setClock(svm);
  const result = svm.withSigverify(true).sendTransaction(transaction);
  return result instanceof FailedTransactionMetadata
    ? readExecution(result.meta(), readTransactionError(result))
    : readExecution(result, null);
}

/** Runs a transaction and drops its changes. */
export function simulate(
  svm: LiteSVM,
  { transaction }: DecodedTransaction,
  checks: { signatures: boolean },
): Execution {
  setClock(svm);
  const result = svm.withSigverify(checks.signatures).simulateTransaction(transaction);
  const err = result instanceof FailedTransactionMetadata ? readTransactionError(result) : null;
  return readExecution(result.meta(), err);
}

/** Throws on bytes that are not a transaction. */
export function decodeTransaction(wire: Uint8Array): DecodedTransaction {
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

/** LiteSVM's clock stands still; programs must see the process's time. */
function setClock(svm: LiteSVM): void {
  const slot = BigInt(slotAt(nowMs()));
  const epoch = slot / SLOTS_PER_EPOCH;
  svm.setClock(new Clock(slot, 0n, epoch, epoch + 1n, BigInt(Math.floor(nowMs() / 1000))));
}

function readExecution(metadata: TransactionMetadata, err: TransactionError | null): Execution {
  return {
    err,
    logs: metadata.logs(),
    unitsConsumed: Number(metadata.computeUnitsConsumed()),
    innerInstructions: readInnerInstructions(metadata),
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
