import { laterNowMs } from '../../process/clock.js';
import type { ChainCheck } from '../check/chain-check.js';
import type { ChainFinding } from '../check/finding.js';
import type { SearchPosition } from '../check/search-position.js';
import { unreadableReason } from '../check/unreadable.js';
import { LaggingNode, retryWhileBehind } from '../rpc/lagging-node.js';
import { readRpcError } from '../rpc/rpc-error.js';
import {
  parseSignedMessage,
  type SignedMessage,
  type SolanaTransfer,
  tokenAccountOf,
} from './solana-message.js';
import {
  type FirstRoot,
  newPass,
  parseSolanaPosition,
  presentBeginning,
  presentPass,
  type SolanaPass,
} from './solana-pass.js';
import type { SignatureEntry, SolanaRoot, SolanaRpc } from './solana-rpc.js';
import {
  chooseList,
  type Judge,
  readNewestAgain,
  readPage,
  requireTaken,
  type SolanaEndpointMemory,
  type SolanaSearch,
  scanHistory,
} from './solana-search.js';
import { judgeLanded } from './solana-verdict.js';
import { isTransactionSignature } from './transaction-signature.js';

export interface SolanaPaymentQuery extends SolanaTransfer {
  readonly family: 'svm';
  /** CAIP-2. */
  readonly network: string;
  /** The transaction as the buyer signed it, in base64. */
  readonly signedTransaction: string;
  /** When the payment was claimed, by our clock. The payment did not land long before. */
  readonly notBefore: Date;
  /** The transaction that the facilitator reported, unverified. */
  readonly transactionHint?: string | undefined;
  /** The position at which the previous check's search stopped. */
  readonly position?: SearchPosition | undefined;
}

interface SolanaCheckContext {
  rpc: SolanaRpc;
  check: ChainCheck;
  memory: SolanaEndpointMemory;
}

/** Whether the blockhash has expired, or the error that leaves it open. */
type Expiry = boolean | { error: unknown };

interface Beginning {
  root: SolanaRoot;
  firstRoot: FirstRoot;
  isFinal: boolean;
}

/** `ended`: the pass has reached its end without the payment. */
type Searched = { finding: ChainFinding } | { ended: SolanaPass };

/** Far more than the 150 blocks for which a blockhash is valid: nodes also call an unknown, newer blockhash invalid. */
const MIN_BLOCKHASH_AGE_MS = 180_000;
/** The age that counts as expired when the endpoint refuses isBlockhashValid. Slots count too, since a halted chain makes none. */
const MOST_BLOCKHASH_AGE_MS = 600_000;
const MOST_BLOCKHASH_AGE_SLOTS = 300;
/** How much the chain's clock may differ from ours. */
const CLOCK_SKEW_MS = 600_000;

/**
 * Checks a Solana payment on its chain. The transaction id is the fee payer's signature, which only the facilitator knows
 * until it answers, so the payment is recognized by its message: the buyer signed it, and it lands at most once. The
 * message cannot land any more when its blockhash is too old in the state of a finalized block, since every later block
 * descends from that one. A history up to that block without the message is then final, unless another node's differs.
 */
export async function checkSolanaPayment(
  context: SolanaCheckContext,
  query: SolanaPaymentQuery,
): Promise<ChainFinding> {
  const { rpc, check, memory } = context;
  const message = parseSignedMessage(query.signedTransaction);
  const accounts = accountsOf(message, query);
  const judge: Judge = (signature, landed) => judgeLanded(rpc, signature, landed, message, query);
  const hint = parseHint(query.transactionHint);
  const named = hint === undefined ? undefined : await judgeHint(rpc, hint, judge);
  if (named !== undefined) return keepPosition(named, query);
  const searchFrom = (since: Date): SolanaSearch => ({ rpc, check, memory, message, since, judge });
  const earlier = parseSolanaPosition(query.position, accounts);
  const pass = earlier?.pass;
  if (pass?.isFinal) {
    const search = searchFrom(windowStart(query, pass.firstRoot));
    return await conclude(search, hint, await continuePass(search, pass));
  }
  const root = await readRoot(context);
  const firstRoot = earlier?.firstRoot ?? { ...root, claimedAt: claimTime(query, root) };
  const search = searchFrom(windowStart(query, firstRoot));
  const expiry = await readExpiry(context, message, root, ageStart(query, firstRoot));
  const isFinal = expiry === true;
  const searched =
    pass === undefined || isFinal
      ? await beginPass(search, accounts, { root, firstRoot, isFinal })
      : await continuePass(search, pass);
  // With the expiry unknown the payment can be found paid, but not called unused.
  if (typeof expiry !== 'boolean' && 'ended' in searched) {
    return {
      kind: 'searching',
      reason: unreadableReason(expiry.error),
      position: presentBeginning(firstRoot),
    };
  }
  return await conclude(search, hint, searched);
}

/** A transaction that pays names each of these accounts. The first one usually has the shortest history. */
function accountsOf({ buyer, source, keys }: SignedMessage, query: SolanaPaymentQuery): string[] {
  const merchant = tokenAccountOf(query);
  const ofBuyer = [buyer, source].filter((account) => account !== undefined);
  return ofBuyer.length === 0 || keys.includes(merchant) ? [...ofBuyer, merchant] : ofBuyer;
}

async function readRoot({ rpc, check }: SolanaCheckContext): Promise<SolanaRoot> {
  const root = await retryWhileBehind(check, () => rpc.getRoot());
  check.saw(root.time);
  return root;
}

/** The time of the chain at which the payment was claimed at the earliest, if the chain and we count seconds alike. */
function claimTime({ notBefore }: SolanaPaymentQuery, root: SolanaRoot): Date {
  const elapsedMs = Math.max(laterNowMs() - notBefore.getTime(), 0);
  return new Date(root.time.getTime() - elapsedMs);
}

/** The chain's clock may be ahead of ours, or behind it. */
function windowStart({ notBefore }: SolanaPaymentQuery, { claimedAt = notBefore }: FirstRoot): Date {
  return new Date(Math.min(claimedAt.getTime(), notBefore.getTime()) - CLOCK_SKEW_MS);
}

/** A root from before the claim is no start: the endpoint may be catching up, and not know the blockhash yet. */
function ageStart({ notBefore }: SolanaPaymentQuery, { slot, time }: FirstRoot): SolanaRoot {
  return { slot, time: time > notBefore ? time : notBefore };
}

/**
 * Reads whether the blockhash has expired. Its age counts by the chain's clock from `start` on, since the claim may be older
 * than the blockhash.
 */
async function readExpiry(
  { rpc, check }: SolanaCheckContext,
  message: SignedMessage,
  root: SolanaRoot,
  start: SolanaRoot,
): Promise<Expiry> {
  const { blockhash, usesDurableNonce } = message;
  const ageMs = root.time.getTime() - start.time.getTime();
  // A durable nonce is stored in the blockhash field. Nodes call it invalid, and it never expires.
  if (ageMs <= MIN_BLOCKHASH_AGE_MS || usesDurableNonce) return false;
  try {
    return !(await retryWhileBehind(check, () => rpc.isBlockhashValid(blockhash, root)));
  } catch (error) {
    const isRefused = readRpcError(error).kind === 'refused';
    const isOver = ageMs > MOST_BLOCKHASH_AGE_MS && root.slot - start.slot > MOST_BLOCKHASH_AGE_SLOTS;
    return isRefused && isOver ? true : { error };
  }
}

async function beginPass(
  search: SolanaSearch,
  accounts: readonly string[],
  { root, firstRoot, isFinal }: Beginning,
): Promise<Searched> {
  try {
    const { beginning, page } = await chooseList(search, accounts, root.slot, isFinal);
    return await finishPass(search, newPass(beginning, root.time, firstRoot), page);
  } catch (error) {
    // A node that is behind has answered: this is `searching`, not `unreadable`.
    if (readRpcError(error).kind !== 'behind') throw error;
    const position = presentBeginning(firstRoot);
    return { finding: { kind: 'searching', reason: unreadableReason(error), position } };
  }
}

async function continuePass(search: SolanaSearch, pass: SolanaPass): Promise<Searched> {
  search.check.saw(pass.rootTime);
  let page: readonly SignatureEntry[];
  try {
    page = await readPage(search, pass);
  } catch (error) {
    const { kind } = readRpcError(error);
    const isSilent = kind === 'failed' || kind === 'refused';
    // No page was read: the check is `unreadable`, and the stored position stays for the next one.
    if (isSilent && !isPositionLost(error, pass)) throw error;
    return { finding: searching(pass, error) };
  }
  return await finishPass(search, pass, page);
}

async function finishPass(
  search: SolanaSearch,
  pass: SolanaPass,
  page: readonly SignatureEntry[],
): Promise<Searched> {
  try {
    const found = await scanHistory(search, pass, page);
    const finding = found ?? (pass.isFinal ? await readNewestAgain(search, pass) : undefined);
    return finding === undefined ? { ended: pass } : { finding };
  } catch (error) {
    return { finding: searching(pass, error) };
  }
}

function searching(pass: SolanaPass, error: unknown): ChainFinding {
  const position = isPositionLost(error, pass) ? presentBeginning(pass.firstRoot) : presentPass(pass);
  return { kind: 'searching', reason: unreadableReason(error), position };
}

/**
 * The position is no longer in the list: a fork was dropped, or another endpoint answers. Some endpoints then list
 * nothing, others refuse.
 */
function isPositionLost(error: unknown, { beforeLast }: SolanaPass): boolean {
  return error instanceof LaggingNode || (beforeLast !== undefined && readRpcError(error).kind === 'refused');
}

async function conclude(
  { rpc, judge }: SolanaSearch,
  hint: string | undefined,
  searched: Searched,
): Promise<ChainFinding> {
  if ('finding' in searched) return searched.finding;
  const { rootTime, firstRoot, isFinal, hasUnclear } = searched.ended;
  const position = presentBeginning(firstRoot);
  if (hasUnclear) return { kind: 'searching', reason: 'a listed transaction cannot be read', position };
  const unused: ChainFinding = { kind: 'unused', chainTime: rootTime, exhausted: isFinal, position };
  if (hint === undefined) return unused;
  try {
    // The hint is read again at the end: a node's index by account may lag behind its index by signature.
    return (isFinal ? await judgeNamed(rpc, hint, judge) : await judgeProcessed(rpc, hint)) ?? unused;
  } catch (error) {
    return isFinal ? { kind: 'searching', reason: unreadableReason(error), position } : unused;
  }
}

/** A hint that cannot be read is ignored, and the history is searched instead. */
async function judgeHint(rpc: SolanaRpc, hint: string, judge: Judge): Promise<ChainFinding | undefined> {
  return await judgeNamed(rpc, hint, judge).catch(() => undefined);
}

async function judgeNamed(rpc: SolanaRpc, name: string, judge: Judge): Promise<ChainFinding | undefined> {
  const landed = await rpc.findTransaction(name);
  if (landed === undefined) return undefined;
  requireTaken(landed);
  return await judge(name, landed);
}

/** A processed transaction cannot be read yet, so its message is unknown. */
async function judgeProcessed(rpc: SolanaRpc, hint: string): Promise<ChainFinding | undefined> {
  const status = await rpc.findStatus(hint);
  return status?.commitment === 'processed' ? { kind: 'pending', transaction: hint } : undefined;
}

function keepPosition(finding: ChainFinding, { position }: SolanaPaymentQuery): ChainFinding {
  return finding.kind === 'searching' && position ? { ...finding, position } : finding;
}

function parseHint(text: string | undefined): string | undefined {
  return text !== undefined && isTransactionSignature(text) ? text : undefined;
}
