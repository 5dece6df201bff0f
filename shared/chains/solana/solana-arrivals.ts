import { type VersionedMessage, VersionedTransaction } from '@solana/web3.js';
import type { Arrival } from '../check/arrival.js';
import type { ChainCheck } from '../check/chain-check.js';
import { ChainUnreadable } from '../check/unreadable.js';
import type { OfferedSvmToken } from '../networks/networks.js';
import { LaggingNode, retryWhileBehind } from '../rpc/lagging-node.js';
import { amountReceived, findTransfer, hashMessage, readMemos, tokenAccountOf } from './solana-message.js';
import { advance, beginningOf } from './solana-pass.js';
import {
  type LandedTransaction,
  parseBlockTime,
  type SignatureEntry,
  type SolanaRoot,
  type SolanaRpc,
} from './solana-rpc.js';
import { readPage, stepBack } from './solana-search.js';

/** A wallet's token account. Solana has no authorizations, so every transfer to the account is an arrival. */
export interface TokenAccount {
  token: OfferedSvmToken;
  wallet: string;
}

interface Reading {
  rpc: SolanaRpc;
  check: ChainCheck;
}

/** A list of signatures is read down to transactions of this slot and time. */
export interface ListEnd {
  slot: number;
  time: Date;
}

/** The account's transactions down to the end, oldest first. */
export async function listTransactions(
  reading: Reading,
  account: TokenAccount,
  root: SolanaRoot,
  end: ListEnd,
): Promise<SignatureEntry[]> {
  const list = beginningOf({ account: addressOf(account), rootSlot: root.slot, isFinal: false });
  const isBefore = ({ slot, blockTime }: SignatureEntry): boolean =>
    slot < end.slot || (blockTime !== undefined && blockTime < end.time);
  const found: SignatureEntry[] = [];
  for (let page = await readPage(reading, list); ; page = await readPage(reading, list)) {
    const lastAt = page.findIndex(({ signature }) => signature === list.last);
    const entries = page.slice(lastAt + 1);
    const older = entries.findIndex(isBefore);
    found.push(...entries.slice(0, older < 0 ? entries.length : older));
    if (older >= 0) break;
    // No endpoint's pages are as short as one entry, so the list ends here.
    if (page.length <= 1) {
      await requireLedger(reading, end);
      break;
    }
    if (entries.length === 0) stepBack(list, page, lastAt);
    advance(list, entries);
  }
  return found.reverse();
}

/** A list may also end because the endpoint does not keep older transactions. */
async function requireLedger({ rpc, check }: Reading, end: ListEnd): Promise<void> {
  const start = await retryWhileBehind(check, () => rpc.findLedgerStart('of_each_node'));
  if (start !== undefined && start > end.time)
    throw new ChainUnreadable('the endpoint keeps no transactions from that time');
}

/**
 * Undefined when the transaction failed, or brought the account nothing. `unreadable` when its version is later than the
 * versions that this code reads, or refused by the endpoint.
 */
export async function readSolanaArrival(
  { rpc, check }: Reading,
  account: TokenAccount,
  { signature, blockTime }: SignatureEntry,
): Promise<Arrival | 'unreadable' | undefined> {
  check.requireTime();
  const landed = await retryWhileBehind(check, async () => {
    const found = await rpc.findTransaction(signature);
    if (found === undefined) throw new LaggingNode('the endpoint lists a transaction that it does not have');
    return found;
  });
  if (typeof landed === 'string') return 'unreadable';
  const arrival = presentArrival(account, signature, landed);
  return arrival && { ...arrival, at: blockTime ?? arrival.at };
}

function presentArrival(
  { token, wallet }: TokenAccount,
  transaction: string,
  landed: Exclude<LandedTransaction, string>,
): Arrival | undefined {
  if (landed.meta === null || landed.meta === undefined)
    throw new ChainUnreadable(`the endpoint has no outcome of transaction ${transaction}`);
  if (landed.meta.err !== null) return undefined;
  const receiver = { payTo: wallet, mint: token.address, tokenProgram: token.program };
  const amount = amountReceived(landed, receiver);
  if (amount <= 0n) return undefined;
  const { message } = landed.transaction;
  const keys = message.staticAccountKeys.map((key) => key.toBase58());
  const transfer = findTransfer(landed, { ...receiver, amount });
  return {
    network: token.network.caip2,
    asset: token.address,
    payer: transfer?.authority ?? secondSigner(message, keys),
    payTo: wallet,
    amount,
    transaction,
    height: landed.slot,
    proofIndex: transfer?.instructionIndex ?? 0,
    references: readMemos(message, keys) ?? [],
    payload: {
      family: 'svm',
      messageHash: hashMessage(message),
      transactionBase64: Buffer.from(new VersionedTransaction(message).serialize()).toString('base64'),
    },
    at: parseBlockTime(landed.blockTime),
  };
}

/** The payer of a transfer that a program made. The first signer may be a facilitator, which pays the fee. */
function secondSigner({ header }: VersionedMessage, keys: readonly string[]): string | null {
  return (header.numRequiredSignatures > 1 ? keys[1] : undefined) ?? null;
}

function addressOf({ token, wallet }: TokenAccount): string {
  return tokenAccountOf({ payTo: wallet, mint: token.address, tokenProgram: token.program });
}
