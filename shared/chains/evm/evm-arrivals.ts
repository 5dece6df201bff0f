import { getAddress, type Hex, pad } from 'viem';
import { inGroups } from '../../values/in-groups.js';
import type { Arrival } from '../check/arrival.js';
import type { ChainCheck } from '../check/chain-check.js';
import { isTooLong } from '../check/unreadable.js';
import type { EvmNetwork } from '../networks/networks.js';
import { LaggingNode, retryWhileBehind } from '../rpc/lagging-node.js';
import { judgeAuthorization, USED } from './authorization-proof.js';
import { requireReached } from './evm-heads.js';
import type { EvmLog, EvmRpc } from './evm-rpc.js';
import type { LogRange } from './log-range.js';
import { findUses, requireLanded } from './payer-logs.js';
import {
  findWalletLogs,
  isTooMuch,
  isWord,
  type TransferLog,
  type UnreadTransfers,
  type WalletLogs,
} from './wallet-logs.js';

interface EvmArrivalSearch {
  rpc: EvmRpc;
  check: ChainCheck;
  logRange: LogRange;
  network: EvmNetwork;
  /** The receiving wallets. */
  wallets: readonly string[];
}

/** The judged transfers of a range of blocks. */
interface Judged {
  arrivals: Arrival[];
  /** Transfers to the wallets without an authorization: not payments. */
  others: number;
  /** No arrival is of these. */
  unread: UnreadTransfers[];
}

export interface EvmArrivals extends Judged {
  /** The last block that was searched. */
  upTo: number;
}

const RECEIPTS_AT_ONCE = 5;
/** So many are read well within the time of one call. Anybody may send a wallet thousands of transfers that need one. */
const RECEIPTS_OF_A_RANGE = 100;

/**
 * Finds what reached wallets in a range of blocks: each Transfer of an offered token to one of them, in a transaction that also
 * used an authorization. Two searches cover the range: the Transfers to the wallets, and the uses by their payers. A use right
 * before its Transfer needs no more; every other Transfer is judged by its transaction's receipt. Searches from `oldest` on as
 * many blocks as the endpoint takes at once, at most up to `newest`.
 */
export async function readEvmArrivals(
  search: EvmArrivalSearch,
  oldest: number,
  newest: number,
): Promise<EvmArrivals> {
  const { transfers, uses, unread, ...searched } = await retryWhileBehind(search.check, async () => {
    const found = await searchLogs(search, oldest, newest);
    await requireReached(search.rpc, found.upTo, found.upTo === newest ? 'each_node' : 'one_node');
    return found;
  });
  const paired = transfers.map((transfer) => ({ transfer, nonce: nonceBefore(transfer, uses) }));
  const alone = paired.flatMap(({ transfer, nonce }) => (nonce === undefined ? [transfer] : []));
  const upTo = Math.min(searched.upTo, lastWithReceipts(alone));
  const found: Judged = { arrivals: [], others: 0, unread: [...unread] };
  for (const { transfer, nonce } of paired) {
    if (nonce !== undefined && transfer.blockNumber <= upTo)
      found.arrivals.push(presentArrival(search.network, transfer, nonce));
  }
  const unpaired = byTransaction(alone.filter(({ blockNumber }) => blockNumber <= upTo));
  for (const batch of inGroups([...unpaired.values()], RECEIPTS_AT_ONCE)) {
    for (const judged of await Promise.all(batch.map((some) => judgeByReceipt(search, some)))) {
      found.arrivals.push(...judged.arrivals);
      found.unread.push(...judged.unread);
      found.others += judged.others;
    }
  }
  return { ...withoutUnread(found), upTo };
}

/** Anybody may send a wallet thousands of transfers in one transaction. */
function byTransaction(transfers: readonly TransferLog[]): ReadonlyMap<Hex, TransferLog[]> {
  const groups = new Map<Hex, TransferLog[]>();
  for (const transfer of transfers) {
    const group = groups.get(transfer.transactionHash) ?? [];
    group.push(transfer);
    groups.set(transfer.transactionHash, group);
  }
  return groups;
}

/** The last block to which the range is judged: it ends before the block with one receipt too many, and holds one at least. */
function lastWithReceipts(transfers: readonly TransferLog[]): number {
  const blocks = [...byTransaction(transfers).values()].flatMap(([one]) => one?.blockNumber ?? []);
  const [first, ...others] = blocks.sort((a, b) => a - b);
  const beyond = others[RECEIPTS_OF_A_RANGE - 1];
  return first === undefined || beyond === undefined ? Number.POSITIVE_INFINITY : Math.max(first, beyond - 1);
}

/** A payer's transfers to a wallet in a block are read all or none, so that a later run that reads them reports none twice. */
function withoutUnread({ arrivals, others, unread }: Judged): Judged {
  const unreadByName = new Map(unread.map((one) => [[one.block, one.wallet, one.payer].join(' '), one]));
  const isRead = ({ height, payTo, payer }: Arrival): boolean =>
    !unreadByName.has([height, payTo, payer].join(' ').toLowerCase());
  return { arrivals: arrivals.filter(isRead), others, unread: [...unreadByName.values()] };
}

async function searchLogs(
  search: EvmArrivalSearch,
  oldest: number,
  newest: number,
): Promise<WalletLogs & { upTo: number }> {
  const { found, upTo } = await search.logRange.search(search.check, { oldest, newest }, (last) =>
    findWalletLogs(search, oldest, last),
  );
  return { ...found, upTo };
}

/** Every token of the table logs the use first, so that a use right before a Transfer of its payer is that Transfer's. */
function nonceBefore(transfer: TransferLog, uses: readonly EvmLog[]): Hex | undefined {
  const use = uses.find(
    (log) =>
      log.transactionHash === transfer.transactionHash &&
      log.logIndex === transfer.logIndex - 1 &&
      isUseBy(log, transfer.asset, transfer.from),
  );
  return use && nonceOf(use);
}

/** Judges the transfers of one transaction to the wallets. */
async function judgeByReceipt(search: EvmArrivalSearch, transfers: readonly TransferLog[]): Promise<Judged> {
  const { check, network } = search;
  check.requireTime();
  const logs = await retryWhileBehind(check, () => readLogs(search, transfers));
  if (logs === undefined) {
    const unread = transfers.map(({ to, from, blockNumber }) => ({
      wallet: to,
      block: blockNumber,
      payer: from,
    }));
    return { arrivals: [], others: 0, unread };
  }
  const assets = assetsOf(network);
  const uses = logs.found.filter(
    ({ address, topics }) =>
      assets.some((asset) => asset === address.toLowerCase()) && topics[0]?.toLowerCase() === USED,
  );
  if (uses.length === 0) return { arrivals: [], others: transfers.length, unread: [] };
  const nonceIn = (transfer: TransferLog): Hex | undefined => {
    if (logs.from === 'searches') return nonceBefore(transfer, uses);
    const own = uses.filter((log) => isUseBy(log, transfer.asset, transfer.from));
    return own.flatMap((log) => nonceOf(log) ?? []).find((nonce) => isOf(nonce, transfer, logs.found));
  };
  const arrivals = transfers.map((transfer) => presentArrival(network, transfer, nonceIn(transfer)));
  return { arrivals, others: 0, unread: [] };
}

/**
 * The logs of the transaction that tell whose its Transfers are, and none when it failed. A search of its block replaces a
 * receipt that is too long: the endpoint may leave out some of its logs. Undefined when the search finds too many.
 */
async function readLogs(
  search: EvmArrivalSearch,
  [transfer]: readonly TransferLog[],
): Promise<{ from: 'receipt' | 'searches'; found: readonly EvmLog[] } | undefined> {
  if (transfer === undefined) return { from: 'receipt', found: [] };
  const { rpc, network } = search;
  try {
    const receipt = await rpc.findReceipt(transfer.transactionHash);
    if (receipt === undefined) throw new LaggingNode('the endpoint lists a log and lacks its transaction');
    return { from: 'receipt', found: receipt.succeeded ? receipt.logs : [] };
  } catch (error) {
    if (!isTooLong(error)) throw error;
    const landed = requireLanded(transfer, error);
    try {
      return { from: 'searches', found: await findUses(rpc, assetsOf(network), landed) };
    } catch (another) {
      if (await isTooMuch(search, another, landed.blockNumber)) return undefined;
      throw another;
    }
  }
}

function assetsOf({ tokens }: EvmNetwork): Hex[] {
  return tokens.map(({ address }): Hex => `0x${address.slice(2).toLowerCase()}`);
}

function isOf(
  nonce: Hex,
  { asset, from, to, value, logIndex }: TransferLog,
  logs: readonly EvmLog[],
): boolean {
  const verdict = judgeAuthorization(logs, { asset, from, nonce, payTo: to, amount: value });
  return verdict.kind === 'transferred' && verdict.logIndex === logIndex;
}

function isUseBy({ address, topics: [event, owner] }: EvmLog, asset: Hex, payer: Hex): boolean {
  return (
    event?.toLowerCase() === USED &&
    address.toLowerCase() === asset &&
    owner?.toLowerCase() === pad(payer).toLowerCase()
  );
}

function nonceOf({ topics: [, , nonce] }: EvmLog): Hex | undefined {
  return isWord(nonce) ? (nonce.toLowerCase() as Hex) : undefined;
}

function presentArrival(
  { caip2, tokens }: EvmNetwork,
  { asset, from, to, value, transactionHash, logIndex, blockNumber }: TransferLog,
  nonce: Hex | undefined,
): Arrival {
  const token = tokens.find(({ address }) => address.toLowerCase() === asset);
  return {
    network: caip2,
    asset: token?.address ?? asset,
    payer: getAddress(from),
    payTo: getAddress(to),
    amount: value,
    transaction: transactionHash,
    height: blockNumber,
    proofIndex: logIndex,
    references: nonce === undefined ? [] : [nonce],
    payload: nonce === undefined ? undefined : { family: 'evm', from, nonce },
    at: undefined,
  };
}
