import type { Hex } from 'viem';
import { inGroups } from '../../values/in-groups.js';
import type { ChainCheck } from '../check/chain-check.js';
import { isTooLong } from '../check/unreadable.js';
import type { EvmNetwork } from '../networks/networks.js';
import { LaggingNode, retryWhileBehind } from '../rpc/lagging-node.js';
import { TRANSFER, USED } from './authorization-proof.js';
import { requireReached } from './evm-heads.js';
import type { EvmRpc, FoundLog } from './evm-rpc.js';
import {
  assetsOf,
  type Judged,
  judgeTransfers,
  nonceBefore,
  presentArrival,
  type TransactionLogs,
  withoutUnread,
} from './judge-transfers.js';
import type { LogRange } from './log-range.js';
import { findUses, requireLanded } from './payer-logs.js';
import { findWalletLogs, isTooMuch, type TransferLog, type WalletLogs } from './wallet-logs.js';

interface EvmArrivalSearch {
  rpc: EvmRpc;
  check: ChainCheck;
  logRange: LogRange;
  network: EvmNetwork;
  /** The receiving wallets. */
  wallets: readonly string[];
}

export interface EvmArrivals extends Judged {
  /** The last block that was searched. */
  upTo: number;
}

const RECEIPTS_AT_ONCE = 5;
/** A hundred receipts are read well within the time of one call. Anybody may send a wallet thousands of transfers that need one. */
const RECEIPTS_OF_A_RANGE = 100;

/**
 * Finds what reached wallets in a range of blocks: each Transfer of an offered token to one of them, in a transaction that also
 * used an authorization. Two searches cover the range: the Transfers to the wallets, and the uses by their payers. A use right
 * before its Transfer needs no more; every other Transfer is judged by its transaction's receipt, or where one block has too many
 * of these, by the block's logs. Searches from `oldest` on as many blocks as the endpoint takes at once, at most up to `newest`.
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
  for (const judged of await judgeUnpaired(search, [...unpaired.values()])) {
    found.arrivals.push(...judged.arrivals);
    found.unread.push(...judged.unread);
    found.others += judged.others;
  }
  return { ...withoutUnread(found), upTo };
}

async function judgeUnpaired(
  search: EvmArrivalSearch,
  transactions: readonly TransferLog[][],
): Promise<Judged[]> {
  const isCrowd = transactions.length > RECEIPTS_OF_A_RANGE;
  const { judged, left } = isCrowd
    ? await judgeByBlock(search, transactions)
    : { judged: [], left: transactions };
  for (const batch of inGroups(left, RECEIPTS_AT_ONCE))
    judged.push(...(await Promise.all(batch.map((some) => judgeByReceipt(search, some)))));
  return judged;
}

/**
 * Judges the transactions of one block, but leaves the newest of those that used authorizations to their receipts, and the very
 * last: the endpoint may have cut its list right behind that one's Transfer.
 */
async function judgeByBlock(
  search: EvmArrivalSearch,
  transactions: readonly TransferLog[][],
): Promise<{ judged: Judged[]; left: readonly TransferLog[][] }> {
  const inOrder = [...transactions].sort(([one], [other]) => indexOf(one) - indexOf(other));
  const logs = await readBlock(search, inOrder.flat());
  if (logs === undefined)
    return { judged: [judgeTransfers(search.network, inOrder.flat(), undefined)], left: [] };
  const uses = logs.filter(({ topics: [event] }) => event?.toLowerCase() === USED);
  const used = new Set(uses.map(({ transactionHash }) => transactionHash));
  const left = inOrder
    .filter(
      (some) => some === inOrder.at(-1) || some.some(({ transactionHash }) => used.has(transactionHash)),
    )
    .slice(-RECEIPTS_OF_A_RANGE);
  const isLeft = new Set(left);
  const judged = inOrder
    .filter((some) => !isLeft.has(some))
    .map((some) => {
      const found = uses.filter(({ transactionHash }) => transactionHash === some[0]?.transactionHash);
      return judgeTransfers(search.network, some, { from: 'searches', found });
    });
  return { judged, left };
}

function indexOf(transfer: TransferLog | undefined): number {
  return transfer?.logIndex ?? 0;
}

/**
 * All uses and Transfers of the tokens in the transfers' block. One answer that shows each of these transfers is no late node's,
 * and is not cut before the last of them. Undefined when there is none.
 */
async function readBlock(
  search: EvmArrivalSearch,
  transfers: readonly TransferLog[],
): Promise<readonly FoundLog[] | undefined> {
  const { rpc, check, network } = search;
  const block = transfers[0]?.blockNumber ?? 0;
  const nameOf = (log: FoundLog): string => [log.blockHash, log.transactionHash, log.logIndex].join(' ');
  try {
    return await retryWhileBehind(check, async () => {
      const filter = { address: assetsOf(network), topics: [[USED, TRANSFER]] };
      const logs = await rpc.findLogs(filter, block, block);
      const shown = new Set(logs.map(nameOf));
      if (transfers.some((one) => !shown.has(nameOf(one))))
        throw new LaggingNode('the endpoint leaves out logs that it has listed');
      return logs;
    });
  } catch (error) {
    if (error instanceof LaggingNode || (await isTooMuch(search, error, block))) return undefined;
    throw error;
  }
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

/** Judges the transfers of one transaction to the wallets. */
async function judgeByReceipt(search: EvmArrivalSearch, transfers: readonly TransferLog[]): Promise<Judged> {
  search.check.requireTime();
  return judgeTransfers(
    search.network,
    transfers,
    await retryWhileBehind(search.check, () => readLogs(search, transfers)),
  );
}

/**
 * The logs of the transaction that tell whose its Transfers are, and none when it failed. A search of its block replaces a
 * receipt that is too long: the endpoint may leave out some of its logs. Undefined when the search finds too many.
 */
async function readLogs(
  search: EvmArrivalSearch,
  [transfer]: readonly TransferLog[],
): Promise<TransactionLogs | undefined> {
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
