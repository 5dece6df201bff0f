import { getAddress, type Hex, isAddress, isHash } from 'viem';
import { nowMs } from '../clock.js';
import { findAuthorizationLog } from './authorization-log.js';
import { type AuthorizedPayment, judgeAuthorization } from './authorization-proof.js';
import type { EvmBlock, EvmRpc } from './evm-rpc.js';
import type { ChainFinding } from './finding.js';
import { ChainUnreadable } from './unreadable.js';

/**
 * Looks for an EIP-3009 payment on its chain. Proof of payment is one successful receipt of the canonical chain
 * that holds the authorization's use and its own Transfer of at least the amount to the merchant; who named the
 * transaction does not matter. That the nonce is used proves nothing by itself: its owner can cancel it. That it is
 * unused is read in the state of one block, whose own time says whether it can still be used.
 */
export interface EvmPaymentQuery {
  readonly family: 'evm';
  /** CAIP-2. */
  readonly network: string;
  /** The token's contract. */
  readonly asset: string;
  readonly from: string;
  readonly payTo: string;
  readonly amount: bigint;
  readonly nonce: string;
  /** Unix seconds as signed, which may lie beyond what a Date holds. */
  readonly validBefore: bigint;
  /** When the payment was claimed: it was not used long before. */
  readonly notBefore: Date;
  /** What the facilitator called its transaction. */
  readonly transactionHint?: string | undefined;
}

/** A chain is idle or an endpoint stuck when its newest block is older; Ethereum's blocks are 12 s apart. */
const MAX_HEAD_AGE_MS = 120_000;
/** By how much the chain's clock may differ from ours. */
const CLOCK_SKEW_SECONDS = 600n;

export async function lookUpEvmPayment(rpc: EvmRpc, query: EvmPaymentQuery): Promise<ChainFinding> {
  const payment = parseQuery(query);
  const head = await rpc.getHead();
  const hinted = parseHash(query.transactionHint);
  if (hinted !== undefined) {
    const finding = await judgeTransaction(rpc, hinted, payment, head);
    if (finding !== undefined) return finding;
  }
  if (!(await rpc.isAuthorizationUsed(payment.asset, payment.from, payment.nonce, head))) {
    return judgeUnused(head, query.validBefore);
  }
  const since = BigInt(Math.floor(query.notBefore.getTime() / 1000)) - CLOCK_SKEW_SECONDS;
  const transaction = await findAuthorizationLog(rpc, payment, head, { since, until: query.validBefore });
  if (transaction === undefined) throw new ChainUnreadable('the nonce is used, but no log says by what');
  const finding = await judgeTransaction(rpc, transaction, payment, head);
  if (finding === undefined)
    throw new ChainUnreadable("the nonce's log and its transaction's receipt differ");
  return finding;
}

/** Undefined when this transaction, as it stands on the canonical chain, does not touch the authorization. */
async function judgeTransaction(
  rpc: EvmRpc,
  transaction: Hex,
  payment: AuthorizedPayment,
  head: EvmBlock,
): Promise<ChainFinding | undefined> {
  const receipt = await rpc.findReceipt(transaction);
  if (receipt === undefined || !receipt.succeeded) return undefined;
  const verdict = judgeAuthorization(receipt.logs, payment);
  if (verdict.kind === 'absent') return undefined;
  const block = await rpc.findBlock(receipt.blockNumber);
  // A node may keep the receipt of a block that a reorganisation has dropped.
  if (block === undefined || block.hash !== receipt.blockHash) return undefined;
  switch (verdict.kind) {
    case 'transferred':
      return {
        kind: 'paid',
        transaction,
        proofIndex: verdict.logIndex,
        payer: getAddress(payment.from),
        confirmations: countBlocks(block, head),
        blockTime: toDate(block.timestamp),
      };
    case 'spent':
      return { kind: 'spent_otherwise', transaction };
    case 'ambiguous':
      throw new ChainUnreadable("the transaction's transfers cannot be told apart");
  }
}

function judgeUnused(head: EvmBlock, validBefore: bigint): ChainFinding {
  const chainTime = toDate(head.timestamp);
  if (nowMs() - chainTime.getTime() > MAX_HEAD_AGE_MS) {
    throw new ChainUnreadable(`the endpoint's newest block is of ${chainTime.toISOString()}`);
  }
  // Some tokens still take an authorization in the second of its end.
  return { kind: 'unused', chainTime, exhausted: head.timestamp > validBefore };
}

/** At least 1: a block that was made after the head was read has itself. */
function countBlocks(block: EvmBlock, head: EvmBlock): number {
  return block.number > head.number ? 1 : Number(head.number - block.number) + 1;
}

function parseQuery({ asset, from, payTo, amount, nonce }: EvmPaymentQuery): AuthorizedPayment {
  const hash = parseHash(nonce);
  if (hash === undefined) throw new ChainUnreadable('the payment has no nonce of 32 bytes');
  return {
    asset: parseAddress(asset),
    from: parseAddress(from),
    payTo: parseAddress(payTo),
    amount,
    nonce: hash,
  };
}

function parseAddress(text: string): Hex {
  if (!isAddress(text, { strict: false })) throw new ChainUnreadable(`the payment's ${text} is no address`);
  return `0x${text.slice(2).toLowerCase()}`;
}

/** In one spelling, so that one transaction is not two. */
function parseHash(text: string | undefined): Hex | undefined {
  return text !== undefined && isHash(text) ? `0x${text.slice(2).toLowerCase()}` : undefined;
}

function toDate(seconds: bigint): Date {
  return new Date(Number(seconds) * 1000);
}
