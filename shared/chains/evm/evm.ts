import { getAddress, type Hex, isAddress, isHash } from 'viem';
import type { ChainCheck } from '../check/chain-check.js';
import type { ChainFinding } from '../check/finding.js';
import type { SearchPosition } from '../check/search-position.js';
import { ChainUnreadable, isTooLong, unreadableReason } from '../check/unreadable.js';
import { type EvmEndpointMemory, findAuthorizationLog } from './authorization-log.js';
import {
  type AuthorizationVerdict,
  type AuthorizedPayment,
  judgeAuthorization,
  judgeFoundLogs,
} from './authorization-proof.js';
import { blockTime, type EvmBlock, type EvmRpc, type FoundLog, isStateMissing } from './evm-rpc.js';
import {
  beginEvmSearch,
  continueEvmSearch,
  parseEvmPosition,
  presentEvmPosition,
} from './evm-search-position.js';
import { findPayerLogs, type Landed, requireLanded } from './payer-logs.js';

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
  /** Unix seconds as signed; may be beyond the range of a Date. */
  readonly validBefore: bigint;
  /** When the payment was claimed. The search starts here and goes back only after it has reached the head. */
  readonly notBefore: Date;
  /** The transaction that the facilitator reported, unverified. */
  readonly transactionHint?: string | undefined;
  /** The position at which the previous check's search stopped. */
  readonly position?: SearchPosition | undefined;
}

interface EvmCheckContext {
  rpc: EvmRpc;
  memory: EvmEndpointMemory;
  check: ChainCheck;
  /** The network's setting, at least 1: an outcome is certain in a block with so many, its own included. */
  confirmations: number;
}

/** Tries with one head before a fresh one is read: one URL may be served by nodes at different heights. */
const TRIES_PER_HEAD = 3;
const TRIES = 9;

/**
 * Checks an EIP-3009 payment on its chain. Proof of payment is one successful receipt of the canonical chain that holds the
 * authorization's use and its own Transfer of at least the amount to the merchant; it does not matter who named the
 * transaction. A used nonce proves nothing by itself, since its owner can cancel it. An unused nonce is read in the state of
 * one block, and that block's own time says whether the authorization can still be used.
 */
export async function checkEvmPayment(
  context: EvmCheckContext,
  query: EvmPaymentQuery,
): Promise<ChainFinding> {
  const payment = parseQuery(query);
  const head = await readHead(context);
  const named = await judgeHint(context, query.transactionHint, payment, head);
  if (named !== undefined) return named;
  const state = await readState(context, payment, head);
  return state.isUsed
    ? await findUse(context, query, payment, state.head)
    : await judgeUnused(context, state.head, query.validBefore);
}

/** The finding of a failed check: an authorization that an earlier check read as used stays used. */
export function judgeUnreadEvm(query: EvmPaymentQuery, reason: string): ChainFinding | undefined {
  const position = parseEvmPosition(query.position);
  return position && { kind: 'used', reason, position: presentEvmPosition(position) };
}

async function readHead({ rpc, check }: EvmCheckContext): Promise<EvmBlock> {
  const head = await rpc.getHead();
  check.saw(blockTime(head));
  return head;
}

/** A hint that cannot be read is ignored, and the state is read instead. */
async function judgeHint(
  context: EvmCheckContext,
  hint: string | undefined,
  payment: AuthorizedPayment,
  head: EvmBlock,
): Promise<ChainFinding | undefined> {
  const transaction = parseHash(hint);
  if (transaction === undefined) return undefined;
  return await judgeTransaction(context, transaction, payment, head).catch(() => undefined);
}

async function readState(
  context: EvmCheckContext,
  { asset, from, nonce }: AuthorizedPayment,
  firstHead: EvmBlock,
): Promise<{ isUsed: boolean; head: EvmBlock }> {
  const { rpc, check } = context;
  let head = firstHead;
  for (let tried = 1; ; tried += 1) {
    try {
      return { isUsed: await rpc.isAuthorizationUsed(asset, from, nonce, head), head };
    } catch (error) {
      if (tried === TRIES || check.isEnding || !isStateMissing(error)) throw error;
    }
    if (tried % TRIES_PER_HEAD !== 0) continue;
    await check.pause();
    head = await readHead(context);
  }
}

/** The authorization is known to be used here: a failure is `used`, never `unreadable`. */
async function findUse(
  context: EvmCheckContext,
  query: EvmPaymentQuery,
  authorization: AuthorizedPayment,
  head: EvmBlock,
): Promise<ChainFinding> {
  const { rpc, memory, check } = context;
  const number = Number(head.number);
  const earlier = parseEvmPosition(query.position);
  const position = earlier === undefined ? beginEvmSearch(number) : continueEvmSearch(earlier, number);
  const used = (reason: string): ChainFinding => ({
    kind: 'used',
    reason,
    position: presentEvmPosition(position),
  });
  try {
    const search = { authorization, claimedAt: query.notBefore, head, position, memory, check };
    const log = await findAuthorizationLog(rpc, search);
    if (log === undefined) return used('the nonce is used, but no log says by what');
    const finding = await judgeFound(context, log, authorization, head);
    if (finding === undefined) return used("the nonce's log and its transaction's receipt differ");
    return finding.kind === 'used' ? used(finding.reason) : finding;
  } catch (error) {
    return used(unreadableReason(error));
  }
}

/** A receipt that exceeds the bounds of an answer is replaced by the payer's own logs in the transaction's block. */
async function judgeFound(
  context: EvmCheckContext,
  log: FoundLog,
  payment: AuthorizedPayment,
  head: EvmBlock,
): Promise<ChainFinding | undefined> {
  try {
    return await judgeTransaction(context, log.transactionHash, payment, head);
  } catch (error) {
    if (!isTooLong(error)) throw error;
    const landed = requireLanded(log, error);
    const logs = await findPayerLogs(context.rpc, payment.asset, payment.from, landed);
    return await findingOf(context, landed, judgeFoundLogs(logs, payment), payment, head);
  }
}

/** Undefined when this transaction, as the canonical chain has it, does not involve the authorization. */
async function judgeTransaction(
  context: EvmCheckContext,
  transactionHash: Hex,
  payment: AuthorizedPayment,
  head: EvmBlock,
): Promise<ChainFinding | undefined> {
  const receipt = await context.rpc.findReceipt(transactionHash);
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

/** Compares with the head's own time, never with our clock: on a halted chain no time has passed. */
async function judgeUnused(
  { rpc, confirmations }: EvmCheckContext,
  head: EvmBlock,
  validBefore: bigint,
): Promise<ChainFinding> {
  // Some tokens still accept an authorization in the second of its end.
  const isPast = (block: EvmBlock): boolean => block.timestamp > validBefore;
  const unused = { kind: 'unused', chainTime: blockTime(head) } as const;
  if (confirmations === 1 || !isPast(head)) return { ...unused, exhausted: isPast(head) };
  // The newest block with its confirmations has to be past the end: each block that may still come is later than it.
  const newest = head.number - BigInt(confirmations - 1);
  const number = newest > 0n ? newest : 0n;
  const block = await rpc.findBlock(number);
  if (block === undefined) throw new ChainUnreadable(`the endpoint has no block ${number}`);
  return { ...unused, exhausted: isPast(block) };
}

/** Returns at least 1: a block newer than the head that was read counts itself. */
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

/** Lower-case, so that one transaction has one name. */
function parseHash(text: string | undefined): Hex | undefined {
  return text !== undefined && isHash(text) ? `0x${text.slice(2).toLowerCase()}` : undefined;
}
