import { type CompiledInstruction, type VersionedMessage, VersionedTransaction } from '@solana/web3.js';
import { fromBase58, toBase58 } from '../../world/chains/base58.js';
import { RpcError } from '../../world/chains/rpc-error.js';
import type { InnerInstructions, LandedTransaction } from './records.js';
import type { RpcOptions } from './rpc-params.js';
import { secondsOf } from './slots.js';
import { describeAmount, isTokenProgram } from './token-data.js';

const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const TRANSFER_CHECKED = 12;
const UNSUPPORTED_VERSION = -32015;

type TransactionFormat = Pick<RpcOptions, 'encoding' | 'maxSupportedTransactionVersion'>;
type RawInstruction = InnerInstructions['instructions'][number];

/** A landed transaction in an RPC node's format. */
export function describeTransaction(landed: LandedTransaction, format: TransactionFormat): object {
  const { encoding = 'json', maxSupportedTransactionVersion: newest } = format;
  const wire = Buffer.from(landed.wire, 'base64');
  const { message, signatures } = VersionedTransaction.deserialize(wire);
  if (message.version !== 'legacy' && newest === undefined) {
    throw new RpcError(
      UNSUPPORTED_VERSION,
      `Transaction version (${message.version}) is not supported by the requesting client. ` +
        'Please try the request again with the following configuration parameter: ' +
        `"maxSupportedTransactionVersion": ${message.version}`,
    );
  }
  const head = {
    slot: landed.slot,
    blockTime: secondsOf(landed.slot),
    ...(newest !== undefined && { version: message.version }),
  };
  if (encoding === 'base64') return { ...head, meta: landed.meta, transaction: [landed.wire, encoding] };
  if (encoding === 'base58') return { ...head, meta: landed.meta, transaction: [toBase58(wire), encoding] };
  const names = signatures.map(toBase58);
  if (encoding === 'json') {
    return { ...head, meta: landed.meta, transaction: { signatures: names, message: compiled(message) } };
  }
  if (encoding !== 'jsonParsed') throw new RpcError(-32602, `unknown encoding ${encoding}`);
  const innerInstructions = landed.meta.innerInstructions.map((group) => parseInner(group, landed.accounts));
  const meta = { ...landed.meta, innerInstructions };
  return { ...head, meta, transaction: { signatures: names, message: parsed(message, landed.accounts) } };
}

function compiled(message: VersionedMessage): object {
  return {
    header: message.header,
    accountKeys: message.staticAccountKeys.map((key) => key.toBase58()),
    recentBlockhash: message.recentBlockhash,
    instructions: instructionsOf(message),
    ...(message.version === 0 && { addressTableLookups: [] }),
  };
}

function parsed(message: VersionedMessage, accounts: readonly string[]): object {
  return {
    accountKeys: accounts.map((pubkey, index) => ({
      pubkey,
      signer: message.isAccountSigner(index),
      writable: message.isAccountWritable(index),
      source: 'transaction',
    })),
    recentBlockhash: message.recentBlockhash,
    instructions: instructionsOf(message).map((instruction) => parse(instruction, accounts)),
    ...(message.version === 0 && { addressTableLookups: [] }),
  };
}

function instructionsOf(message: VersionedMessage): RawInstruction[] {
  const legacy = 'instructions' in message ? message.instructions : undefined;
  if (legacy !== undefined) return legacy.map((one: CompiledInstruction) => ({ ...one, stackHeight: 1 }));
  return message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    programIdIndex,
    accounts: accountKeyIndexes,
    data: toBase58(data),
    stackHeight: 1,
  }));
}

function parseInner({ index, instructions }: InnerInstructions, accounts: readonly string[]): object {
  return { index, instructions: instructions.map((instruction) => parse(instruction, accounts)) };
}

/** Parses the instructions that payments consist of; the others stay encoded. */
function parse(
  { programIdIndex, accounts, data, stackHeight }: RawInstruction,
  keys: readonly string[],
): object {
  const programId = keys[programIdIndex] ?? '';
  const named = accounts.map((index) => keys[index]);
  const bytes = Buffer.from(fromBase58(data));
  if (programId === MEMO_PROGRAM) {
    return { program: 'spl-memo', programId, stackHeight, parsed: bytes.toString('utf8') };
  }
  if (isTokenProgram(programId) && bytes[0] === TRANSFER_CHECKED) {
    const [source, mint, destination, authority] = named;
    const tokenAmount = describeAmount(bytes.readBigUInt64LE(1), bytes[9] ?? 0);
    const info = { source, mint, destination, authority, tokenAmount };
    return { program: 'spl-token', programId, stackHeight, parsed: { type: 'transferChecked', info } };
  }
  return { programId, accounts: named, data, stackHeight };
}
