import type { ChainFinding } from '../check/finding.js';
import { ChainUnreadable, unreadableReason } from '../check/unreadable.js';
import { findTransfer, holdsMessage, type SignedMessage, type SolanaTransfer } from './solana-message.js';
import type { LandedTransaction, SolanaRpc } from './solana-rpc.js';

type Landed = Exclude<LandedTransaction, string>;

/**
 * Judges a landed transaction; undefined when it holds another message. When it holds the payment's message, a failed read
 * is `searching`: the payment never counts as not found.
 */
export async function judgeLanded(
  rpc: SolanaRpc,
  signature: string,
  landed: LandedTransaction,
  message: SignedMessage,
  expected: SolanaTransfer,
): Promise<ChainFinding | undefined> {
  if (typeof landed === 'string') return undefined;
  const isOwn = holdsMessage(landed, message);
  if (isOwn === false) return undefined;
  try {
    if (isOwn === 'unclear')
      throw new ChainUnreadable("the endpoint answers another message than the payment's");
    return await judgeOwn(rpc, signature, landed, message, expected);
  } catch (error) {
    return { kind: 'searching', reason: unreadableReason(error) };
  }
}

async function judgeOwn(
  rpc: SolanaRpc,
  signature: string,
  landed: Landed,
  message: SignedMessage,
  expected: SolanaTransfer,
): Promise<ChainFinding> {
  const { meta } = landed;
  if (meta === null) throw new ChainUnreadable('the endpoint does not say whether the transaction succeeded');
  const status = (await rpc.findStatus(signature)) ?? (await rpc.findFinality(signature));
  if (status === undefined || status.commitment === 'processed')
    return { kind: 'pending', transaction: signature };
  // The status and the transaction come from two reads, which two nodes may have answered.
  if (status.hasFailed !== (meta.err !== null))
    throw new ChainUnreadable('the endpoint contradicts itself on whether the transaction succeeded');
  const isFinalized = status.commitment === 'finalized';
  const transfer = meta.err === null ? findTransfer(landed, expected) : undefined;
  if (transfer === undefined) {
    // A failed message cannot land again: while its blockhash is valid the cluster refuses it as already processed (it
    // has paid its fee), and later the blockhash is too old. Only a finalized block is certain to stay.
    return { kind: isFinalized ? 'spent_otherwise' : 'pending', transaction: signature };
  }
  return {
    kind: 'paid',
    transaction: signature,
    height: landed.slot,
    proofIndex: transfer.instructionIndex,
    // The fee payer is the facilitator's.
    payer: transfer.authority ?? message.buyer,
    confirmations: isFinalized ? 2 : 1,
  };
}
