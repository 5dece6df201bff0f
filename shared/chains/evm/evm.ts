import { type Hex, isAddress, isHash } from 'viem';
import type { ChainFinding } from '../check/finding.js';
import type { SearchPosition } from '../check/search-position.js';
import { ChainUnreadable, unreadableReason } from '../check/unreadable.js';
import { findAuthorizationLog } from './authorization-log.js';
import type { AuthorizedPayment } from './authorization-proof.js';
import type { EvmCheckContext } from './evm-check-context.js';
import { blockTime, type EvmBlock, isStateMissing } from './evm-rpc.js';
import {
  beginEvmSearch,
  continueEvmSearch,
  parseEvmPosition,
  presentEvmPosition,
} from './evm-search-position.js';
import { judgeFound, judgeTransaction } from './judge-transaction.js';

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
  if (named !== undefined) return await confirmNamed(context, named, payment, head);
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

/**
 * Confirmations are counted from one node's block to another's head: where more than one is needed, the head's own state has to
 * show the use as well. A node that has missed a reorganisation answers the dropped block.
 */
async function confirmNamed(
  context: EvmCheckContext,
  named: ChainFinding,
  payment: AuthorizedPayment,
  head: EvmBlock,
): Promise<ChainFinding> {
  const isCounted =
    named.kind === 'spent_otherwise' ||
    (named.kind === 'paid' && named.confirmations >= context.confirmations);
  if (context.confirmations === 1 || !isCounted) return named;
  const pending = { kind: 'pending', transaction: named.transaction } as const;
  try {
    return (await readState(context, payment, head)).isUsed ? named : pending;
  } catch {
    return pending;
  }
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
