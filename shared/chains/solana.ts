import type { ChainFinding } from './finding.js';
import { LaggingNode, untilCaughtUp } from './lagging.js';
import type { Look } from './look.js';
import { readRefusal } from './refusal.js';
import type { SearchPlace } from './search-place.js';
import {
  parseSignedMessage,
  type SignedMessage,
  type SolanaTransfer,
  tokenAccountOf,
} from './solana-message.js';
import { newPass, parsePlace, presentBeginning, presentPass, type SolanaPass } from './solana-pass.js';
import type { SignatureEntry, SolanaRoot, SolanaRpc } from './solana-rpc.js';
import {
  chooseList,
  type Judge,
  readPage,
  type SolanaEndpointMemory,
  type SolanaSearch,
  scanHistory,
} from './solana-search.js';
import { judgeLanded } from './solana-verdict.js';
import { isTransactionSignature } from './transaction-signature.js';
import { unreadableReason } from './unreadable.js';

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
  /** When the payment was claimed, by our clock: it did not land long before. */
  readonly notBefore: Date;
  /** What the facilitator called its transaction. */
  readonly transactionHint?: string | undefined;
  /** Where the search of an earlier look stopped. */
  readonly place?: SearchPlace | undefined;
}

/** What `lookUpSolanaPayment` needs besides the question. */
export interface SolanaLookContext {
  rpc: SolanaRpc;
  look: Look;
  memory: SolanaEndpointMemory;
}

/** Whether the message can land no more, or why that cannot be said. */
type Expiry = boolean | { error: unknown };

/** Where a pass begins. */
interface Beginning {
  root: SolanaRoot;
  firstRoot: SolanaRoot;
  isFinal: boolean;
}

/** The pass when it has come to its end without the payment. */
type Searched = { finding: ChainFinding } | { ended: SolanaPass };

/** Far more than the 150 blocks that a blockhash lasts: one that a node does not know yet is called invalid too. */
const MIN_BLOCKHASH_AGE_MS = 180_000;
/** Its end where nobody says so, however slow the chain is; the slots, since time alone passes in a halt too. */
const MOST_BLOCKHASH_AGE_MS = 600_000;
const MOST_BLOCKHASH_AGE_SLOTS = 300;
/** By how much the chain's clock may differ from ours. */
const CLOCK_SKEW_MS = 600_000;

export async function lookUpSolanaPayment(
  context: SolanaLookContext,
  query: SolanaPaymentQuery,
): Promise<ChainFinding> {
  const { rpc, look, memory } = context;
  const message = parseSignedMessage(query.signedTransaction);
  const accounts = accountsOf(message, query);
  const judge: Judge = (signature, landed) => judgeLanded(rpc, signature, landed, message, query);
  const hint = parseHint(query.transactionHint);
  const named = hint === undefined ? undefined : await judgeHint(rpc, hint, judge);
  if (named !== undefined) return keepPlace(named, query);
  const since = new Date(query.notBefore.getTime() - CLOCK_SKEW_MS);
  const search = { rpc, look, memory, message, since, judge };
  const earlier = parsePlace(query.place, accounts);
  const pass = earlier?.pass;
  if (pass?.isFinal) return await conclude(search, hint, await goOn(search, pass));
  const root = await readRoot(search);
  const firstRoot = earlier?.firstRoot ?? root;
  const expiry = await readExpiry(search, root, firstRoot);
  const isFinal = expiry === true;
  const searched =
    pass === undefined || isFinal
      ? await begin(search, accounts, { root, firstRoot, isFinal })
      : await goOn(search, pass);
  // What may have expired, or not, can be found paid, but not called unused.
  if (typeof expiry !== 'boolean' && 'ended' in searched) {
    return { kind: 'searching', reason: unreadableReason(expiry.error), place: presentBeginning(firstRoot) };
  }
  return await conclude(search, hint, searched);
}

/** Each of them is in the transaction, if it pays; the first one mostly has the fewest. */
function accountsOf({ buyer, source, keys }: SignedMessage, query: SolanaPaymentQuery): string[] {
  const merchant = tokenAccountOf(query);
  const ofBuyer = [buyer, source].filter((account) => account !== undefined);
  return ofBuyer.length === 0 || keys.includes(merchant) ? [...ofBuyer, merchant] : ofBuyer;
}

async function readRoot({ rpc, look }: SolanaSearch): Promise<SolanaRoot> {
  const root = await untilCaughtUp(look, () => rpc.getRoot());
  look.saw(root.time);
  return root;
}

/** By the chain's clock alone: ours may be far from it, and the claim have come before the blockhash. */
async function readExpiry(
  { rpc, look, message }: SolanaSearch,
  root: SolanaRoot,
  firstRoot: SolanaRoot,
): Promise<Expiry> {
  const { blockhash, usesDurableNonce } = message;
  const ageMs = root.time.getTime() - firstRoot.time.getTime();
  // A durable nonce stands in the place of the blockhash, looks invalid and lasts for ever.
  if (ageMs <= MIN_BLOCKHASH_AGE_MS || usesDurableNonce) return false;
  try {
    return !(await untilCaughtUp(look, () => rpc.isBlockhashValid(blockhash, root)));
  } catch (error) {
    const isRefused = readRefusal(error).kind === 'refused';
    const isOver = ageMs > MOST_BLOCKHASH_AGE_MS && root.slot - firstRoot.slot > MOST_BLOCKHASH_AGE_SLOTS;
    return isRefused && isOver ? true : { error };
  }
}

async function begin(
  search: SolanaSearch,
  accounts: readonly string[],
  { root, firstRoot, isFinal }: Beginning,
): Promise<Searched> {
  try {
    const { beginning, page } = await chooseList(search, accounts, root.slot, isFinal);
    return await goToTheEnd(search, newPass(beginning, root.time, firstRoot), page);
  } catch (error) {
    // A node that is behind has not fallen silent: another, or another moment, knows more.
    if (readRefusal(error).kind !== 'behind') throw error;
    const place = presentBeginning(firstRoot);
    return { finding: { kind: 'searching', reason: unreadableReason(error), place } };
  }
}

async function goOn(search: SolanaSearch, pass: SolanaPass): Promise<Searched> {
  search.look.saw(pass.rootTime);
  let page: readonly SignatureEntry[];
  try {
    page = await readPage(search, pass);
  } catch (error) {
    const { kind } = readRefusal(error);
    const isSilent = kind === 'failed' || kind === 'refused';
    // Nothing of the list was read: whoever keeps the place goes on there.
    if (isSilent && !isPlaceLost(error, pass)) throw error;
    return { finding: searching(pass, error) };
  }
  return await goToTheEnd(search, pass, page);
}

async function goToTheEnd(
  search: SolanaSearch,
  pass: SolanaPass,
  page: readonly SignatureEntry[],
): Promise<Searched> {
  try {
    const finding = await scanHistory(search, pass, page);
    return finding === undefined ? { ended: pass } : { finding };
  } catch (error) {
    return { finding: searching(pass, error) };
  }
}

function searching(pass: SolanaPass, error: unknown): ChainFinding {
  const place = isPlaceLost(error, pass) ? presentBeginning(pass.firstRoot) : presentPass(pass);
  return { kind: 'searching', reason: unreadableReason(error), place };
}

/**
 * The place is not in the list any more: a fork was dropped, or the endpoint is another one. Some list nothing then,
 * others refuse.
 */
function isPlaceLost(error: unknown, { beforeLast }: SolanaPass): boolean {
  return error instanceof LaggingNode || (beforeLast !== undefined && readRefusal(error).kind === 'refused');
}

async function conclude(
  { rpc, judge }: SolanaSearch,
  hint: string | undefined,
  searched: Searched,
): Promise<ChainFinding> {
  if ('finding' in searched) return searched.finding;
  const { rootTime, firstRoot, isFinal, isInDoubt } = searched.ended;
  const place = presentBeginning(firstRoot);
  if (isInDoubt) return { kind: 'searching', reason: 'a listed transaction cannot be read', place };
  const unused: ChainFinding = { kind: 'unused', chainTime: rootTime, exhausted: isFinal, place };
  if (hint === undefined) return unused;
  try {
    // Asked again at the end: a node's list by account and its list by name may lag differently.
    return (isFinal ? await judgeNamed(rpc, hint, judge) : await judgeProcessed(rpc, hint)) ?? unused;
  } catch (error) {
    return isFinal ? { kind: 'searching', reason: unreadableReason(error), place } : unused;
  }
}

/** Only a hint: what cannot be read of it keeps nobody from searching. */
async function judgeHint(rpc: SolanaRpc, hint: string, judge: Judge): Promise<ChainFinding | undefined> {
  return await judgeNamed(rpc, hint, judge).catch(() => undefined);
}

async function judgeNamed(rpc: SolanaRpc, name: string, judge: Judge): Promise<ChainFinding | undefined> {
  const landed = await rpc.findTransaction(name);
  return landed === undefined ? undefined : await judge(name, landed);
}

/** Such a transaction cannot be read yet: it may be another message. */
async function judgeProcessed(rpc: SolanaRpc, hint: string): Promise<ChainFinding | undefined> {
  const status = await rpc.findStatus(hint);
  return status === 'processed' ? { kind: 'pending', transaction: hint } : undefined;
}

function keepPlace(finding: ChainFinding, { place }: SolanaPaymentQuery): ChainFinding {
  return finding.kind === 'searching' && place ? { ...finding, place } : finding;
}

function parseHint(text: string | undefined): string | undefined {
  return text !== undefined && isTransactionSignature(text) ? text : undefined;
}
