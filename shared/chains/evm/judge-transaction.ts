import { getAddress, type Hex } from 'viem';
import type { ChainFinding } from '../check/finding.js';
import { isTooLong } from '../check/unreadable.js';
import {
  type AuthorizationVerdict,
  type AuthorizedPayment,
  judgeAuthorization,
  judgeFoundLogs,
} from './authorization-proof.js';
import type { EvmCheckContext } from './evm-check-context.js';
import type { EvmBlock, EvmReceipt, FoundLog } from './evm-rpc.js';
import { findPayerLogs, type Landed, requireLanded } from './payer-logs.js';

/**
 * A receipt that exceeds the bounds of an answer, or that a node has kept of a dropped block, is replaced by the payer's own logs
 * in the transaction's block.
 */
export async function judgeFound(
  context: EvmCheckContext,
  log: FoundLog,
  payment: AuthorizedPayment,
  head: EvmBlock,
): Promise<ChainFinding | undefined> {
  const { transactionHash, blockHash } = log;
  try {
    const receipt = await context.rpc.findReceipt(transactionHash);
    const finding = await judgeReceipt(context, transactionHash, receipt, payment, head);
    const isOfDroppedBlock = receipt !== undefined && receipt.blockHash !== blockHash;
    if (finding !== undefined || blockHash === undefined || !isOfDroppedBlock) return finding;
    return await judgeByLogs(context, { ...log, blockHash }, payment, head);
  } catch (error) {
    if (!isTooLong(error)) throw error;
    return await judgeByLogs(context, requireLanded(log, error), payment, head);
  }
}

async function judgeByLogs(
  context: EvmCheckContext,
  landed: Landed,
  payment: AuthorizedPayment,
  head: EvmBlock,
): Promise<ChainFinding | undefined> {
  const logs = await findPayerLogs(context.rpc, payment.asset, payment.from, landed);
  return await findingOf(context, landed, judgeFoundLogs(logs, payment), payment, head);
}

/** Undefined when this transaction, as the canonical chain has it, does not involve the authorization. */
export async function judgeTransaction(
  context: EvmCheckContext,
  transactionHash: Hex,
  payment: AuthorizedPayment,
  head: EvmBlock,
): Promise<ChainFinding | undefined> {
  const receipt = await context.rpc.findReceipt(transactionHash);
  return await judgeReceipt(context, transactionHash, receipt, payment, head);
}

async function judgeReceipt(
  context: EvmCheckContext,
  transactionHash: Hex,
  receipt: EvmReceipt | undefined,
  payment: AuthorizedPayment,
  head: EvmBlock,
): Promise<ChainFinding | undefined> {
  if (!receipt?.succeeded) return undefined;
  const landed = { ...receipt, transactionHash, blockNumber: Number(receipt.blockNumber) };
  return await findingOf(context, landed, judgeAuthorization(receipt.logs, payment), payment, head);
}

async function findingOf(
  { rpc, confirmations }: EvmCheckContext,
  { transactionHash: transaction, blockNumber: height, blockHash }: Landed,
  verdict: AuthorizationVerdict,
  payment: AuthorizedPayment,
  head: EvmBlock,
): Promise<ChainFinding | undefined> {
  if (verdict.kind === 'absent') return undefined;
  const block = await rpc.findBlock(BigInt(height));
  // A node may keep the receipt of a block that a reorganisation dropped.
  if (block === undefined || block.hash !== blockHash) return undefined;
  const blocks = countBlocks(block, head);
  switch (verdict.kind) {
    case 'transferred':
      return {
        kind: 'paid',
        transaction,
        height,
        proofIndex: verdict.logIndex,
        payer: getAddress(payment.from),
        confirmations: blocks,
      };
    case 'spent':
      // A block that replaces this one may use the authorization to pay.
      if (blocks < confirmations) return { kind: 'pending', transaction, pays: false };
      return { kind: 'spent_otherwise', transaction };
    case 'ambiguous':
      return { kind: 'used', reason: "the transaction's transfers cannot be told apart" };
  }
}

/** Returns at least 1: a block newer than the head that was read counts itself. */
function countBlocks(block: EvmBlock, head: EvmBlock): number {
  return block.number > head.number ? 1 : Number(head.number - block.number) + 1;
}
