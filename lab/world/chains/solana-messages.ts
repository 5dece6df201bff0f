import {
  type AccountKeysFromLookups,
  Keypair,
  type MessageAddressTableLookup,
  type VersionedMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { toBase58 } from './base58.js';

/** Solana messages in an RPC endpoint's format. */
export interface DescribedMessage {
  memo: string | null;
  accounts: readonly string[];
}

export interface TransactionOutcome {
  message: VersionedMessage;
  /** The accounts that its lookup tables name. */
  loaded: AccountKeysFromLookups;
  error: object | null;
  receives: Record<string, bigint>;
}

const TRANSFER_CHECKED = 12;
/** A placeholder that readers ignore. */
const SOME_MINT = Keypair.generate().publicKey.toBase58();
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
/** Every token account's balance before every transaction. */
const HELD_BEFORE = 5_000_000n;

export interface SignedTransaction {
  message: VersionedMessage;
  /** The signatures after the fee payer's. */
  signers: readonly string[];
}

export function decode(signedTransaction: string): SignedTransaction {
  const { message, signatures } = VersionedTransaction.deserialize(Buffer.from(signedTransaction, 'base64'));
  return { message, signers: signatures.slice(1).map(toBase58) };
}

function accountsOf(message: VersionedMessage, { writable, readonly }: AccountKeysFromLookups): string[] {
  return [...message.staticAccountKeys, ...writable, ...readonly].map((key) => key.toBase58());
}

export function describeMessage(message: VersionedMessage, loaded: AccountKeysFromLookups): DescribedMessage {
  const accounts = accountsOf(message, loaded);
  const memos = message.compiledInstructions
    .filter(({ programIdIndex }) => accounts[programIdIndex] === MEMO_PROGRAM)
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`);
  return { memo: memos.length === 0 ? null : memos.join('; '), accounts };
}

export function presentMessage(message: VersionedMessage): object {
  return {
    header: message.header,
    accountKeys: message.staticAccountKeys.map((key) => key.toBase58()),
    recentBlockhash: message.recentBlockhash,
    instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
      programIdIndex,
      accounts: [...accountKeyIndexes],
      data: toBase58(data),
    })),
    ...(message.version === 'legacy'
      ? {}
      : { addressTableLookups: message.addressTableLookups.map(presentLookup) }),
  };
}

function presentLookup({ accountKey, ...indexes }: MessageAddressTableLookup): object {
  return { accountKey: accountKey.toBase58(), ...indexes };
}

interface Included {
  balances: boolean;
  loadedAddresses: boolean;
}

/** The transaction's result, with token balances before and after. */
export function presentMeta(
  { message, loaded, error, receives }: TransactionOutcome,
  included: Included,
): object {
  const accounts = accountsOf(message, loaded);
  const balances = new Map([...transferred(message, loaded), ...Object.entries(receives)]);
  const present = (held: (amount: bigint) => bigint): object[] =>
    [...balances].map(([account, amount]) => ({
      accountIndex: accounts.indexOf(account),
      mint: SOME_MINT,
      uiTokenAmount: { amount: String(held(amount)), decimals: 6, uiAmount: null, uiAmountString: '' },
    }));
  const preTokenBalances = present(() => HELD_BEFORE);
  const postTokenBalances = present((amount) => HELD_BEFORE + (error === null ? amount : 0n));
  return {
    err: error,
    fee: 10_000,
    preBalances: [],
    postBalances: [],
    innerInstructions: [],
    ...(included.balances && { preTokenBalances, postTokenBalances }),
    ...(included.loadedAddresses && {
      loadedAddresses: {
        writable: loaded.writable.map((key) => key.toBase58()),
        readonly: loaded.readonly.map((key) => key.toBase58()),
      },
    }),
  };
}

/** The amounts that TransferChecked instructions move into token accounts. */
export function transferred(message: VersionedMessage, loaded: AccountKeysFromLookups): Map<string, bigint> {
  const accounts = accountsOf(message, loaded);
  const amounts = new Map<string, bigint>();
  for (const { data, accountKeyIndexes } of message.compiledInstructions) {
    const destination = accounts[accountKeyIndexes[2] ?? -1];
    if (data[0] !== TRANSFER_CHECKED || data.length !== 10 || destination === undefined) continue;
    const amount = Buffer.from(data).readBigUInt64LE(1);
    amounts.set(destination, (amounts.get(destination) ?? 0n) + amount);
  }
  return amounts;
}
