import { createHash } from 'node:crypto';
import {
  type AccountKeysFromLookups,
  MessageV0,
  SystemProgram,
  type VersionedMessage,
  VersionedTransaction,
  type VersionedTransactionResponse,
} from '@solana/web3.js';
import { ChainUnreadable } from '../check/unreadable.js';
import type { SvmToken } from '../networks/networks.js';
import { associatedTokenAccount } from './associated-token-account.js';
import { ADVANCE_NONCE_ACCOUNT, MEMO_PROGRAMS, TOKEN_PROGRAMS, TRANSFER_CHECKED } from './solana-programs.js';
import { presentSignature } from './transaction-signature.js';

/** The parts of the buyer's signed transaction that a chain check needs. */
export interface SignedMessage {
  hash: string;
  /** Base58. The fee payer's, which is not there yet, is left out. */
  signatures: readonly string[];
  blockhash: string;
  feePayer: string;
  /** The second signer; undefined when the fee payer is the only one. */
  buyer: string | undefined;
  usesDurableNonce: boolean;
  /** The source token account of the first TransferChecked. */
  source: string | undefined;
  /** The accounts in the message itself, without those in lookup tables. */
  keys: readonly string[];
  /** Undefined when one of them is not UTF-8. */
  memos: readonly string[] | undefined;
}

export interface SolanaTransfer {
  readonly payTo: string;
  readonly mint: string;
  readonly tokenProgram: SvmToken['program'];
  readonly amount: bigint;
}

interface LandedTransfer {
  instructionIndex: number;
  authority: string | undefined;
}

export function parseSignedMessage(transactionBase64: string): SignedMessage {
  const { message, signatures } = decodeTransaction(transactionBase64);
  const keys = message.staticAccountKeys.map((key) => key.toBase58());
  const [first] = message.compiledInstructions;
  return {
    hash: hashMessage(message),
    signatures: signatures.filter((bytes) => bytes.some((byte) => byte !== 0)).map(presentSignature),
    blockhash: message.recentBlockhash,
    feePayer: keys[0] ?? '',
    buyer: message.header.numRequiredSignatures > 1 ? keys[1] : undefined,
    usesDurableNonce:
      first !== undefined &&
      keys[first.programIdIndex] === SystemProgram.programId.toBase58() &&
      first.data[0] === ADVANCE_NONCE_ACCOUNT,
    source: findSource(message, keys),
    keys,
    memos: readMemos(message, keys),
  };
}

function findSource({ compiledInstructions }: VersionedMessage, keys: readonly string[]): string | undefined {
  const programs = Object.values(TOKEN_PROGRAMS).map((program) => program.toBase58());
  const transfer = compiledInstructions.find(
    ({ programIdIndex, data }) =>
      programs.includes(keys[programIdIndex] ?? '') && data[0] === TRANSFER_CHECKED,
  );
  return keys[transfer?.accountKeyIndexes[0] ?? -1];
}

/** Undefined when one of them is not UTF-8. */
export function readMemos(
  { compiledInstructions }: VersionedMessage,
  keys: readonly string[],
): string[] | undefined {
  const memos = compiledInstructions.filter(({ programIdIndex }) =>
    MEMO_PROGRAMS.includes(keys[programIdIndex] ?? ''),
  );
  try {
    return memos.map(({ data }) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data));
  } catch {
    return undefined;
  }
}

/** Whether the memos that a node lists for a transaction certainly differ from this message's. */
export function hasOtherMemo(listed: string | undefined, { memos }: SignedMessage): boolean {
  const others = listed === undefined ? undefined : parseMemoList(Buffer.from(listed));
  if (others === undefined || memos === undefined) return false;
  return others.length !== memos.length || others.some((other, index) => other !== memos[index]);
}

/** Parses "[bytes] text; [bytes] text". Undefined for any other form and for a truncated list. */
function parseMemoList(listed: Buffer): string[] | undefined {
  const memos: string[] = [];
  for (let at = 0; ; at += 2) {
    const [head, bytes] = /^\[(\d{1,4})\] /.exec(listed.toString('latin1', at, at + 7)) ?? [];
    if (head === undefined) return undefined;
    const end = at + head.length + Number(bytes);
    if (end > listed.length) return undefined;
    memos.push(listed.toString('utf8', at + head.length, end));
    if (end === listed.length) return memos;
    if (listed.toString('latin1', end, end + 2) !== '; ') return undefined;
    at = end;
  }
}

function decodeTransaction(transactionBase64: string): VersionedTransaction {
  try {
    return VersionedTransaction.deserialize(Buffer.from(transactionBase64, 'base64'));
  } catch {
    throw new ChainUnreadable('the payment holds no transaction');
  }
}

/** Hashes the signed bytes, so that the hash is the same before and after the fee payer's signature. */
export function hashMessage(message: VersionedMessage): string {
  return createHash('sha256').update(message.serialize()).digest('hex');
}

export function tokenAccountOf({ payTo, mint, tokenProgram }: Omit<SolanaTransfer, 'amount'>): string {
  return associatedTokenAccount(payTo, { address: mint, program: tokenProgram });
}

type LandedMessage = Pick<VersionedTransactionResponse, 'transaction' | 'version'>;

/**
 * Whether a landed transaction holds the payment's message. `unclear`: it has the buyer's signature, which belongs to this
 * message alone, and the endpoint answers another message, so it has left something out or changed it.
 */
export function holdsMessage(
  { transaction: { message, signatures }, version }: LandedMessage,
  own: SignedMessage,
): boolean | 'unclear' {
  if (hashMessage(message) === own.hash) return true;
  if (!own.signatures.some((signature) => signatures.includes(signature))) return false;
  return version === undefined && hashMessage(asVersion0(message)) === own.hash ? true : 'unclear';
}

/** Without a version, web3.js takes a message for a legacy one. */
function asVersion0({
  header,
  staticAccountKeys,
  recentBlockhash,
  compiledInstructions,
}: VersionedMessage): VersionedMessage {
  return new MessageV0({
    header,
    staticAccountKeys,
    recentBlockhash,
    compiledInstructions,
    addressTableLookups: [],
  });
}

/** A text by which `mayHold` tells a landed transaction from other payments. */
export function identityOf({ message, signatures }: VersionedTransactionResponse['transaction']): string {
  return [hashMessage(message), ...signatures].join(' ');
}

/** Whether the transaction may hold the payment's message; a hash alone may be that of a message with parts left out. */
export function mayHold(identity: string, { hash, signatures }: SignedMessage): boolean {
  return [hash, ...signatures].some((own) => identity.includes(own));
}

/**
 * Finds the instruction by which a landed transaction pays the merchant at least the amount: its own TransferChecked, or
 * a program that transfers inside, which shows in the balances only. Undefined when there is none.
 */
export function findTransfer(
  { transaction, meta }: VersionedTransactionResponse,
  expected: SolanaTransfer,
): LandedTransfer | undefined {
  const keys = accountKeys(transaction.message, meta?.loadedAddresses);
  const destination = tokenAccountOf(expected);
  const tokenProgram = TOKEN_PROGRAMS[expected.tokenProgram].toBase58();
  const instructions = transaction.message.compiledInstructions;
  for (const [instructionIndex, { programIdIndex, accountKeyIndexes, data }] of instructions.entries()) {
    const [, , to, authority] = accountKeyIndexes.map((index) => keys[index]);
    // A token account holds one mint only, so the mint need not be compared.
    const isOurs = keys[programIdIndex] === tokenProgram && to === destination;
    if (isOurs && transferredAmount(data) >= expected.amount) return { instructionIndex, authority };
  }
  const account = keys.indexOf(destination);
  if (account < 0) return undefined;
  const received =
    tokenBalance(meta?.postTokenBalances, account) - tokenBalance(meta?.preTokenBalances, account);
  if (received < expected.amount) return undefined;
  const caller = instructions.findIndex(({ accountKeyIndexes }) => accountKeyIndexes.includes(account));
  return { instructionIndex: Math.max(caller, 0), authority: undefined };
}

/** The amount that a landed transaction adds to the wallet's token account. */
export function amountReceived(
  { transaction, meta }: VersionedTransactionResponse,
  wallet: Omit<SolanaTransfer, 'amount'>,
): bigint {
  const keys = accountKeys(transaction.message, meta?.loadedAddresses);
  const account = keys.indexOf(tokenAccountOf(wallet));
  return account < 0
    ? 0n
    : tokenBalance(meta?.postTokenBalances, account) - tokenBalance(meta?.preTokenBalances, account);
}

function transferredAmount(data: Uint8Array): bigint {
  const bytes = Buffer.from(data);
  return bytes.length >= 9 && bytes[0] === TRANSFER_CHECKED ? bytes.readBigUInt64LE(1) : -1n;
}

/** The accounts of lookup tables are in the outcome only. Without them the merchant's account would seem to get nothing. */
function accountKeys(message: VersionedMessage, lookups: AccountKeysFromLookups | undefined): string[] {
  const loaded = lookups === undefined ? [] : [...lookups.writable, ...lookups.readonly];
  const named = message.addressTableLookups.flatMap(({ writableIndexes, readonlyIndexes }) => [
    ...writableIndexes,
    ...readonlyIndexes,
  ]);
  if (loaded.length !== named.length)
    throw new ChainUnreadable('the endpoint leaves out accounts of lookup tables');
  return [...message.staticAccountKeys, ...loaded].map((key) => key.toBase58());
}

type TokenBalances = NonNullable<VersionedTransactionResponse['meta']>['preTokenBalances'];

/** Balances list token accounts only: an unlisted account held nothing. */
function tokenBalance(balances: TokenBalances, account: number): bigint {
  if (balances === null || balances === undefined)
    throw new ChainUnreadable('the endpoint records no token balances');
  const balance = balances.find(({ accountIndex }) => accountIndex === account);
  return balance === undefined ? 0n : BigInt(balance.uiTokenAmount.amount);
}
