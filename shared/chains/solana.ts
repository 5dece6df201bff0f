import type { Finality } from '@solana/web3.js';
import { nowMs } from '../clock.js';
import type { ChainFinding } from './finding.js';
import { findCandidates } from './solana-candidates.js';
import {
  findTransfer,
  hashMessage,
  parseSignedMessage,
  type SignedMessage,
  type SolanaTransfer,
  tokenAccountOf,
} from './solana-message.js';
import type { LandedTransaction, SolanaRoot, SolanaRpc } from './solana-rpc.js';
import { isTransactionSignature } from './transaction-signature.js';
import { ChainUnreadable } from './unreadable.js';

/**
 * Looks for a Solana payment. Its transaction's name is the fee payer's signature, which the facilitator made and of
 * which a lost answer leaves nothing, so it is known by its message: that is what the buyer signed, and it lands at
 * most once. It can land no more when its blockhash is too old for a finalized block, since every later block
 * descends from that one; what the history does not hold then, it never will.
 */
export interface SolanaPaymentQuery extends SolanaTransfer {
  readonly family: 'svm';
  /** CAIP-2. */
  readonly network: string;
  /** As the buyer signed it, base64. */
  readonly signedTransaction: string;
  /** When the payment was claimed: it did not land long before. */
  readonly notBefore: Date;
  /** What the facilitator called its transaction. */
  readonly transactionHint?: string | undefined;
}

/** Finalized blocks are some 13 s old. */
const MAX_ROOT_AGE_MS = 120_000;
/** Far more than the 150 blocks that a blockhash lasts: one that a node does not know yet is called invalid too. */
const MIN_BLOCKHASH_AGE_MS = 180_000;
/** By how much the chain's clock may differ from ours. */
const CLOCK_SKEW_MS = 600_000;

export async function lookUpSolanaPayment(rpc: SolanaRpc, query: SolanaPaymentQuery): Promise<ChainFinding> {
  const message = parseSignedMessage(query.signedTransaction);
  const hint = parseHint(query.transactionHint);
  const hinted = hint === undefined ? undefined : await judgeHint(rpc, hint, message, query);
  if (hinted !== undefined) return hinted;
  const root = await getFreshRoot(rpc);
  const exhausted = await hasExpired(rpc, message, root, query.notBefore);
  const found = await search(rpc, message, query, root, exhausted ? 'finalized' : 'confirmed');
  if (found !== undefined) return found;
  if (hint !== undefined) {
    // Asked again after the expiry: a node's list by account and its list by name may lag differently.
    const later = exhausted ? await judgeHint(rpc, hint, message, query) : await judgeProcessed(rpc, hint);
    if (later !== undefined) return later;
  }
  return { kind: 'unused', chainTime: root.time, exhausted };
}

async function judgeHint(
  rpc: SolanaRpc,
  hint: string,
  message: SignedMessage,
  query: SolanaPaymentQuery,
): Promise<ChainFinding | undefined> {
  const landed = await rpc.findTransaction(hint);
  return landed === undefined ? undefined : await judgeLanded(rpc, hint, landed, message, query);
}

/** Such a transaction cannot be read yet: it may be another message. */
async function judgeProcessed(rpc: SolanaRpc, hint: string): Promise<ChainFinding | undefined> {
  const status = await rpc.findStatus(hint);
  return status === 'processed' ? { kind: 'pending', transaction: hint } : undefined;
}

async function search(
  rpc: SolanaRpc,
  message: SignedMessage,
  query: SolanaPaymentQuery,
  root: SolanaRoot,
  commitment: Finality,
): Promise<ChainFinding | undefined> {
  const since = new Date(query.notBefore.getTime() - CLOCK_SKEW_MS);
  const merchant = tokenAccountOf(query);
  for (const signature of await findCandidates(rpc, message.buyer, merchant, since, commitment, root)) {
    const landed = await rpc.findTransaction(signature);
    if (landed === undefined)
      throw new ChainUnreadable('the endpoint lists a transaction that it does not have');
    const finding = await judgeLanded(rpc, signature, landed, message, query);
    if (finding !== undefined) return finding;
  }
  return undefined;
}

/** Undefined when it is another message. */
async function judgeLanded(
  rpc: SolanaRpc,
  signature: string,
  landed: LandedTransaction,
  message: SignedMessage,
  query: SolanaPaymentQuery,
): Promise<ChainFinding | undefined> {
  if (landed === 'later_version' || hashMessage(landed.transaction.message) !== message.hash)
    return undefined;
  if (landed.meta === null)
    throw new ChainUnreadable('the endpoint does not say whether the transaction succeeded');
  const status = await rpc.findStatus(signature);
  if (status === undefined || status === 'processed') return { kind: 'pending', transaction: signature };
  const transfer = landed.meta.err === null ? findTransfer(landed, query) : undefined;
  if (transfer === undefined) {
    // A message that failed cannot be tried again: while its blockhash is valid the cluster refuses it as already
    // processed (it has paid its fee), and later the blockhash is too old. But only a finalized block surely stays.
    return { kind: status === 'finalized' ? 'spent_otherwise' : 'pending', transaction: signature };
  }
  const { blockTime, slot } = landed;
  return {
    kind: 'paid',
    transaction: signature,
    proofIndex: transfer.instructionIndex,
    payer: transfer.authority ?? message.buyer ?? message.feePayer,
    confirmations: status === 'finalized' ? 2 : 1,
    blockTime: typeof blockTime === 'number' ? new Date(blockTime * 1000) : await rpc.getBlockTime(slot),
  };
}

async function getFreshRoot(rpc: SolanaRpc): Promise<SolanaRoot> {
  const root = await rpc.getRoot();
  if (nowMs() - root.time.getTime() > MAX_ROOT_AGE_MS) {
    throw new ChainUnreadable(`the endpoint's newest finalized block is of ${root.time.toISOString()}`);
  }
  return root;
}

async function hasExpired(
  rpc: SolanaRpc,
  { blockhash, usesDurableNonce }: SignedMessage,
  root: SolanaRoot,
  notBefore: Date,
): Promise<boolean> {
  const isOld = root.time.getTime() > notBefore.getTime() + MIN_BLOCKHASH_AGE_MS;
  // A durable nonce stands in the place of the blockhash, looks invalid and lasts for ever.
  return isOld && !usesDurableNonce && !(await rpc.isBlockhashValid(blockhash, root));
}

function parseHint(text: string | undefined): string | undefined {
  return text !== undefined && isTransactionSignature(text) ? text : undefined;
}
