import { getAddress, type Hex, isHex, pad, slice } from 'viem';
import { inGroups } from '../../values/in-groups.js';
import type { Arrival } from '../check/arrival.js';
import type { ChainCheck } from '../check/chain-check.js';
import { isTooLong } from '../check/unreadable.js';
import type { EvmNetwork } from '../networks/networks.js';
import { LaggingNode, retryWhileBehind } from '../rpc/lagging-node.js';
import { judgeAuthorization, TRANSFER, USED } from './authorization-proof.js';
import { requireReached } from './evm-heads.js';
import type { EvmLog, EvmRpc, FoundLog } from './evm-rpc.js';
import type { LogRange } from './log-range.js';
import { findPayerLogs, findUses, requireLanded } from './payer-logs.js';

interface EvmArrivalSearch {
  rpc: EvmRpc;
  check: ChainCheck;
  logRange: LogRange;
  network: EvmNetwork;
  /** The receiving wallets. */
  wallets: readonly string[];
}

export interface EvmArrivals {
  arrivals: Arrival[];
  /** Transfers to the wallets without an authorization: not payments. */
  others: number;
  /** The last block that was searched. */
  upTo: number;
}

/** Endpoints limit how many values a filter lists. */
const VALUES_AT_ONCE = 100;
const RECEIPTS_AT_ONCE = 5;

interface TransferLog extends FoundLog {
  asset: Hex;
  from: Hex;
  to: Hex;
  value: bigint;
}

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
  const { upTo, transfers, uses } = await retryWhileBehind(search.check, async () => {
    const found = await searchLogs(search, oldest, newest);
    await requireReached(search.rpc, found.upTo, found.upTo === newest ? 'each_node' : 'one_node');
    return found;
  });
  const paired = transfers.map((transfer) => ({ transfer, nonce: nonceBefore(transfer, uses) }));
  const arrivals = paired.flatMap(({ transfer, nonce }) =>
    nonce === undefined ? [] : [presentArrival(search.network, transfer, nonce)],
  );
  const unpaired = paired.flatMap(({ transfer, nonce }) => (nonce === undefined ? [transfer] : []));
  const judged: (Arrival | undefined)[] = [];
  for (const batch of inGroups(unpaired, RECEIPTS_AT_ONCE)) {
    judged.push(...(await Promise.all(batch.map((transfer) => judgeByReceipt(search, transfer)))));
  }
  const late = judged.filter((arrival) => arrival !== undefined);
  return { arrivals: [...arrivals, ...late], others: judged.length - late.length, upTo };
}

async function searchLogs(
  search: EvmArrivalSearch,
  oldest: number,
  newest: number,
): Promise<{ upTo: number; transfers: TransferLog[]; uses: EvmLog[] }> {
  const { found, upTo } = await search.logRange.search(search.check, { oldest, newest }, async (last) => {
    const transfers = await findTransfers(search, oldest, last);
    return { transfers, uses: await findUsesByPayers(search, transfers, oldest, last) };
  });
  return { ...found, upTo };
}

async function findTransfers(
  search: EvmArrivalSearch,
  oldest: number,
  newest: number,
): Promise<TransferLog[]> {
  const { wallets } = search;
  const receivers = new Set(wallets.map((wallet) => wallet.toLowerCase()));
  const found: FoundLog[] = [];
  for (const some of inGroups([...receivers], VALUES_AT_ONCE)) {
    const to = some.map((wallet) => pad(wallet as Hex));
    found.push(...(await findTransfersTo(search, to, oldest, newest)));
  }
  return found.flatMap(parseTransfer).filter(({ to, value }) => receivers.has(to) && value > 0n);
}

/**
 * Anybody may send a wallet thousands of transfers in a block, also of 0. A block with too many for one answer is searched for
 * those of payers that used an authorization in it: all others are no payments.
 */
async function findTransfersTo(
  { rpc, network }: EvmArrivalSearch,
  to: Hex[],
  oldest: number,
  newest: number,
): Promise<FoundLog[]> {
  const address = network.tokens.map((token) => token.address);
  try {
    return await rpc.findLogs({ address, topics: [[TRANSFER], null, to] }, oldest, newest);
  } catch (error) {
    if (!isTooLong(error) || oldest < newest) throw error;
    const uses = await rpc.findLogs({ address, topics: [[USED]] }, oldest, newest);
    const payers = new Set(uses.flatMap(({ topics: [, payer] }) => (isWord(payer) ? payer : [])));
    const found: FoundLog[] = [];
    for (const some of inGroups([...payers], VALUES_AT_ONCE))
      found.push(...(await rpc.findLogs({ address, topics: [[TRANSFER], some, to] }, oldest, newest)));
    return found;
  }
}

async function findUsesByPayers(
  { rpc, network }: EvmArrivalSearch,
  transfers: readonly TransferLog[],
  oldest: number,
  newest: number,
): Promise<EvmLog[]> {
  const address = network.tokens.map((token) => token.address);
  const found: EvmLog[] = [];
  const payers = new Set(transfers.map(({ from }) => from));
  for (const some of inGroups([...payers], VALUES_AT_ONCE)) {
    const topics = [[USED], some.map((payer) => pad(payer as Hex))];
    found.push(...(await rpc.findLogs({ address, topics }, oldest, newest)));
  }
  return found;
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

/** Undefined when its transaction used no authorization. */
async function judgeByReceipt(
  { rpc, check, network }: EvmArrivalSearch,
  transfer: TransferLog,
): Promise<Arrival | undefined> {
  check.requireTime();
  const assets = network.tokens.map(({ address }): Hex => `0x${address.slice(2).toLowerCase()}`);
  const logs = await retryWhileBehind(check, () => readLogs(rpc, assets, transfer));
  const uses = logs.filter(
    ({ address, topics }) =>
      assets.some((asset) => asset === address.toLowerCase()) && topics[0]?.toLowerCase() === USED,
  );
  if (uses.length === 0) return undefined;
  const own = uses
    .filter((log) => isUseBy(log, transfer.asset, transfer.from))
    .flatMap((log) => nonceOf(log) ?? []);
  return presentArrival(
    network,
    transfer,
    own.find((nonce) => isOf(nonce, transfer, logs)),
  );
}

/** The logs of the transaction that tell whose Transfer it is, and none when the transaction failed. */
async function readLogs(
  rpc: EvmRpc,
  assets: readonly Hex[],
  transfer: TransferLog,
): Promise<readonly EvmLog[]> {
  try {
    const receipt = await rpc.findReceipt(transfer.transactionHash);
    if (receipt === undefined) throw new LaggingNode('the endpoint lists a log and lacks its transaction');
    return receipt.succeeded ? receipt.logs : [];
  } catch (error) {
    if (!isTooLong(error)) throw error;
    const { asset, from } = transfer;
    const landed = requireLanded(transfer, error);
    const uses = await findUses(rpc, assets, landed);
    const own = await findPayerLogs(rpc, asset, from, landed);
    return [...own, ...uses.filter((use) => own.every(({ logIndex }) => logIndex !== use.logIndex))];
  }
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

function parseTransfer(log: FoundLog): TransferLog[] {
  const [event, from, to, ...rest] = log.topics;
  if (event?.toLowerCase() !== TRANSFER || !isWord(from) || !isWord(to) || rest.length > 0) return [];
  if (!isWord(log.data)) return [];
  return [
    {
      ...log,
      asset: log.address.toLowerCase() as Hex,
      from: slice(from, 12).toLowerCase() as Hex,
      to: slice(to, 12).toLowerCase() as Hex,
      value: BigInt(log.data),
    },
  ];
}

function isWord(text: string | undefined): text is Hex {
  return text !== undefined && isHex(text) && text.length === 66;
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
