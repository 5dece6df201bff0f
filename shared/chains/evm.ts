import { getAddress, type Hex, isAddress, isHash } from 'viem';
import { type EvmEndpointMemory, findAuthorizationLog } from './authorization-log.js';
import { type AuthorizedPayment, judgeAuthorization } from './authorization-proof.js';
import { type EvmBlock, type EvmRpc, isStateMissing } from './evm-rpc.js';
import { beginEvmSearch, continueEvmSearch, parseEvmPlace, presentEvmPlace } from './evm-search-place.js';
import type { ChainFinding } from './finding.js';
import type { Look } from './look.js';
import type { SearchPlace } from './search-place.js';
import { ChainUnreadable, unreadableReason } from './unreadable.js';

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
  /** Where the search of an earlier look stopped. */
  readonly place?: SearchPlace | undefined;
}

/** What `lookUpEvmPayment` needs besides the question. */
export interface EvmLookContext {
  rpc: EvmRpc;
  memory: EvmEndpointMemory;
  look: Look;
}

/** Of one head, before a fresh one is read: behind one address may stand nodes that are not equally far. */
const TRIES_PER_HEAD = 3;
const TRIES = 9;

export async function lookUpEvmPayment(
  context: EvmLookContext,
  query: EvmPaymentQuery,
): Promise<ChainFinding> {
  const payment = parseQuery(query);
  const head = await readHead(context);
  const named = await judgeHint(context.rpc, query.transactionHint, payment, head);
  if (named !== undefined) return named;
  const state = await readState(context, payment, head);
  return state.isUsed
    ? await findWhatUsed(context, query, payment, state.head)
    : judgeUnused(state.head, query.validBefore);
}

/** What remains when a look has failed: that the authorization was used is not forgotten. */
export function judgeUnreadEvm(query: EvmPaymentQuery, reason: string): ChainFinding | undefined {
  const place = parseEvmPlace(query.place);
  return place && { kind: 'used', reason, place: presentEvmPlace(place) };
}

async function readHead({ rpc, look }: EvmLookContext): Promise<EvmBlock> {
  const head = await rpc.getHead();
  look.saw(toDate(head.timestamp));
  return head;
}

/** Only a hint: what cannot be read of it keeps nobody from reading the state. */
async function judgeHint(
  rpc: EvmRpc,
  hint: string | undefined,
  payment: AuthorizedPayment,
  head: EvmBlock,
): Promise<ChainFinding | undefined> {
  const transaction = parseHash(hint);
  if (transaction === undefined) return undefined;
  return await judgeTransaction(rpc, transaction, payment, head).catch(() => undefined);
}

async function readState(
  context: EvmLookContext,
  { asset, from, nonce }: AuthorizedPayment,
  firstHead: EvmBlock,
): Promise<{ isUsed: boolean; head: EvmBlock }> {
  const { rpc, look } = context;
  let head = firstHead;
  for (let tried = 1; ; tried += 1) {
    try {
      return { isUsed: await rpc.isAuthorizationUsed(asset, from, nonce, head), head };
    } catch (error) {
      if (tried === TRIES || look.isEnding || !isStateMissing(error)) throw error;
    }
    if (tried % TRIES_PER_HEAD !== 0) continue;
    await look.pause();
    head = await readHead(context);
  }
}

/** From here on the authorization is known to be used, and nothing that fails makes that unknown again. */
async function findWhatUsed(
  { rpc, memory, look }: EvmLookContext,
  query: EvmPaymentQuery,
  authorization: AuthorizedPayment,
  head: EvmBlock,
): Promise<ChainFinding> {
  const number = Number(head.number);
  const earlier = parseEvmPlace(query.place);
  const place = earlier === undefined ? beginEvmSearch(number) : continueEvmSearch(earlier, number);
  const used = (reason: string): ChainFinding => ({ kind: 'used', reason, place: presentEvmPlace(place) });
  try {
    const search = { authorization, claimedAt: query.notBefore, head, place, memory, look };
    const transaction = await findAuthorizationLog(rpc, search);
    if (transaction === undefined) return used('the nonce is used, but no log says by what');
    const finding = await judgeTransaction(rpc, transaction, authorization, head);
    if (finding === undefined) return used("the nonce's log and its transaction's receipt differ");
    return finding.kind === 'used' ? used(finding.reason) : finding;
  } catch (error) {
    return used(unreadableReason(error));
  }
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
      return { kind: 'used', reason: "the transaction's transfers cannot be told apart" };
  }
}

/** Whenever the head was made: one that stands still says that no time has passed there. */
function judgeUnused(head: EvmBlock, validBefore: bigint): ChainFinding {
  // Some tokens still take an authorization in the second of its end.
  return { kind: 'unused', chainTime: toDate(head.timestamp), exhausted: head.timestamp > validBefore };
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
