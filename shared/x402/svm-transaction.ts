import { createHash } from 'node:crypto';
import {
  ComputeBudgetProgram,
  type MessageCompiledInstruction,
  SystemProgram,
  VersionedTransaction,
} from '@solana/web3.js';
import {
  ADVANCE_NONCE_ACCOUNT,
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAMS,
  TOKEN_PROGRAMS,
  TRANSFER_CHECKED,
} from '../chains/solana/solana-programs.js';

export interface SvmTransfer {
  family: 'svm';
  transactionBase64: string;
  /** SHA-256 in hex of the signed message, without signatures. */
  messageHash: string;
  blockhash: string;
  feePayer: string;
  /** The TransferChecked instructions whose accounts are all in the message. */
  transfers: readonly TokenTransfer[];
  /** True when no instruction except `transfers` can move tokens. Other programs, and accounts in lookup tables, may. */
  isReadable: boolean;
  /** A transaction with a durable nonce never expires. */
  usesDurableNonce: boolean;
}

export interface TokenTransfer {
  program: keyof typeof TOKEN_PROGRAMS;
  source: string;
  mint: string;
  destination: string;
  authority: string;
  amount: bigint;
  decimals: number;
}

/** The network's limit. */
const MAX_TRANSACTION_BYTES = 1232;
/** A single byte holds counts up to 127; a transaction has room for fewer signatures. */
const SIGNATURE_COUNT_BYTES = 1;
const SIGNATURE_BYTES = 64;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const SYSTEM_PROGRAM = SystemProgram.programId.toBase58();
const MOVES_NO_TOKENS = new Set([
  ComputeBudgetProgram.programId.toBase58(),
  SYSTEM_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM.toBase58(),
  ...MEMO_PROGRAMS,
  // Lighthouse: wallets add its assertions about the transaction's effects.
  'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95',
]);
const PROGRAM_NAMES = new Map<string, TokenTransfer['program']>([
  [TOKEN_PROGRAMS['spl-token'].toBase58(), 'spl-token'],
  [TOKEN_PROGRAMS['token-2022'].toBase58(), 'token-2022'],
]);

/**
 * Reads the buyer's Solana transaction. Only the canonical encoding is accepted, so that a message has one hash: the decoder
 * also accepts overlong lengths and trailing bytes. Undefined when the text is not a legacy or version 0 transaction: other
 * versions' expiry is unknown.
 */
export function parseSvmTransaction(text: string): SvmTransfer | undefined {
  const bytes = BASE64.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  const transaction = decodeCanonical(bytes);
  if (transaction === undefined) return undefined;
  const { message, signatures } = transaction;
  const accounts = message.staticAccountKeys.map((key) => key.toBase58());
  const [feePayer] = accounts;
  if (feePayer === undefined || signatures.length === 0) return undefined;
  const instructions = message.compiledInstructions.map((compiled) => readInstruction(compiled, accounts));
  const messageBytes = bytes.subarray(SIGNATURE_COUNT_BYTES + signatures.length * SIGNATURE_BYTES);
  return {
    family: 'svm',
    transactionBase64: bytes.toString('base64'),
    messageHash: createHash('sha256').update(messageBytes).digest('hex'),
    blockhash: message.recentBlockhash,
    feePayer,
    transfers: instructions.flatMap(({ transfer }) => transfer ?? []),
    isReadable: instructions.every(({ transfer, movesNoTokens }) => movesNoTokens || transfer !== undefined),
    usesDurableNonce: instructions.some(({ advancesNonce }) => advancesNonce),
  };
}

function decodeCanonical(bytes: Buffer): VersionedTransaction | undefined {
  if (bytes.length > MAX_TRANSACTION_BYTES) return undefined;
  try {
    const transaction = VersionedTransaction.deserialize(bytes);
    return bytes.equals(transaction.serialize()) ? transaction : undefined;
  } catch {
    return undefined;
  }
}

interface Instruction {
  transfer: TokenTransfer | undefined;
  movesNoTokens: boolean;
  advancesNonce: boolean;
}

function readInstruction(compiled: MessageCompiledInstruction, accounts: string[]): Instruction {
  const program = accounts[compiled.programIdIndex] ?? '';
  const data = Buffer.from(compiled.data);
  return {
    transfer: readTransfer(PROGRAM_NAMES.get(program), compiled.accountKeyIndexes, data, accounts),
    movesNoTokens: MOVES_NO_TOKENS.has(program),
    advancesNonce:
      program === SYSTEM_PROGRAM && data.length >= 4 && data.readUInt32LE(0) === ADVANCE_NONCE_ACCOUNT,
  };
}

function readTransfer(
  program: TokenTransfer['program'] | undefined,
  indexes: number[],
  data: Buffer,
  accounts: string[],
): TokenTransfer | undefined {
  if (program === undefined || data.length < 10 || data[0] !== TRANSFER_CHECKED) return undefined;
  const [source, mint, destination, authority] = indexes.map((index) => accounts[index]);
  if (source === undefined || mint === undefined || destination === undefined || authority === undefined) {
    return undefined;
  }
  const amount = data.readBigUInt64LE(1);
  return { program, source, mint, destination, authority, amount, decimals: data.readUInt8(9) };
}
