import { type Hex, isHex, pad, slice } from 'viem';
import { inGroups } from '../../values/in-groups.js';
import { isTooLong } from '../check/unreadable.js';
import type { EvmNetwork } from '../networks/networks.js';
import { readRpcError } from '../rpc/rpc-error.js';
import { TRANSFER, USED } from './authorization-proof.js';
import type { EvmLog, EvmRpc, FoundLog } from './evm-rpc.js';

export interface TransferLog extends FoundLog {
  asset: Hex;
  from: Hex;
  to: Hex;
  value: bigint;
}

/** Transfers of one block that are not read, since one answer does not hold the logs about them. */
export interface UnreadTransfers {
  /** The wallet's address in lower case. */
  wallet: string;
  block: number;
  /** The payer's address in lower case; undefined for the transfers of every payer. */
  payer: string | undefined;
}

export interface WalletLogs {
  transfers: TransferLog[];
  /** Uses of authorizations by the transfers' payers. */
  uses: EvmLog[];
  /** Transfers that could not be read: none of them is among `transfers`. */
  unread: UnreadTransfers[];
}

interface Search {
  rpc: EvmRpc;
  network: EvmNetwork;
  wallets: readonly string[];
}

/** Endpoints limit how many values a filter lists. */
const VALUES_AT_ONCE = 100;
const NOBODY = pad('0x0');

/**
 * Finds the transfers to wallets and the uses of authorizations by their payers. Anybody may fill a block with such logs: where
 * one answer does not hold the logs of one block, they are searched in ever smaller parts, down to one wallet and one payer.
 */
export async function findWalletLogs(search: Search, oldest: number, newest: number): Promise<WalletLogs> {
  const receivers = [...new Set(search.wallets.map((wallet) => wallet.toLowerCase()))];
  const unread: UnreadTransfers[] = [];
  const found: FoundLog[] = [];
  for (const wallets of inGroups(receivers, VALUES_AT_ONCE)) {
    const logs = await findTransfers(search, { payers: null, wallets }, oldest, newest).catch(
      async (error: unknown) => {
        if (oldest < newest || !(await isTooMuch(search, error, newest))) throw error;
        return await findInCrowdedBlock(search, wallets, newest, unread);
      },
    );
    found.push(...logs);
  }
  const transfers = found
    .flatMap(parseTransfer)
    .filter(({ to, value }) => receivers.includes(to) && value > 0n);
  const payers = [...new Set(transfers.map(({ from }) => from))];
  const crowded = new Set<string>();
  const uses: EvmLog[] = [];
  for (const some of inGroups(payers, VALUES_AT_ONCE)) uses.push(...(await findUsesBy(some)));
  for (const { from, to } of transfers)
    if (crowded.has(from)) unread.push({ wallet: to, block: newest, payer: from });
  return { transfers: transfers.filter(({ from }) => !crowded.has(from)), uses, unread };

  async function findUsesBy(some: readonly Hex[]): Promise<FoundLog[]> {
    const find = (part: readonly Hex[]): Promise<FoundLog[]> => findUses(search, part, oldest, newest);
    if (oldest < newest) return await find(some);
    return await inParts(search, newest, some, find, async (payer) => {
      crowded.add(payer);
      return [];
    });
  }
}

/** Transfers count only of payers that used an authorization in the block; there may be too many of these to list, too. */
async function findInCrowdedBlock(
  search: Search,
  wallets: readonly string[],
  block: number,
  unread: UnreadTransfers[],
): Promise<FoundLog[]> {
  const ofPayers = (payers: readonly string[] | null, part: readonly string[]): Promise<FoundLog[]> =>
    findTransfers(search, { payers, wallets: part }, block, block);
  const byWallet = async (payer: string | undefined): Promise<FoundLog[]> => {
    const payers = payer === undefined ? null : [payer];
    return await inParts(
      search,
      block,
      wallets,
      (part) => ofPayers(payers, part),
      async (wallet) => {
        unread.push({ wallet, block, payer });
        return [];
      },
    );
  };
  const payers = await findPayers(search, block);
  if (payers === undefined) return await byWallet(undefined);
  const found: FoundLog[] = [];
  for (const some of inGroups(payers, VALUES_AT_ONCE))
    found.push(...(await inParts(search, block, some, (part) => ofPayers(part, wallets), byWallet)));
  return found;
}

/** Undefined when one answer does not hold the uses of authorizations in the block. */
async function findPayers(search: Search, block: number): Promise<string[] | undefined> {
  try {
    const uses = await findUses(search, null, block, block);
    return [...new Set(uses.flatMap(({ topics: [, payer] }) => (isWord(payer) ? addressIn(payer) : [])))];
  } catch (error) {
    if (await isTooMuch(search, error, block)) return undefined;
    throw error;
  }
}

/** Halves the values until an answer holds the logs of a part; `alone` takes a value whose logs are too many by themselves. */
async function inParts<V>(
  search: Search,
  block: number,
  values: readonly V[],
  find: (part: readonly V[]) => Promise<FoundLog[]>,
  alone: (value: V) => Promise<FoundLog[]>,
): Promise<FoundLog[]> {
  const [first] = values;
  if (first === undefined) return [];
  try {
    return await find(values);
  } catch (error) {
    if (!(await isTooMuch(search, error, block))) throw error;
  }
  if (values.length === 1) return await alone(first);
  const half = Math.ceil(values.length / 2);
  return [
    ...(await inParts(search, block, values.slice(0, half), find, alone)),
    ...(await inParts(search, block, values.slice(half), find, alone)),
  ];
}

/**
 * Whether a search of one block failed by the number of logs that it finds. An endpoint that refuses a search which finds
 * nothing refuses all of them: its error is thrown.
 */
export async function isTooMuch(
  search: Pick<Search, 'rpc' | 'network'>,
  error: unknown,
  block: number,
): Promise<boolean> {
  if (isTooLong(error)) return true;
  if (readRpcError(error).kind !== 'refused') return false;
  await search.rpc.findLogs({ ...tokensOf(search), topics: [[TRANSFER], [NOBODY], [NOBODY]] }, block, block);
  return true;
}

async function findTransfers(
  search: Search,
  { payers, wallets }: { payers: readonly string[] | null; wallets: readonly string[] },
  oldest: number,
  newest: number,
): Promise<FoundLog[]> {
  const topics = [[TRANSFER], payers === null ? null : payers.map(wordOf), wallets.map(wordOf)];
  return await search.rpc.findLogs({ ...tokensOf(search), topics }, oldest, newest);
}

async function findUses(
  search: Search,
  payers: readonly string[] | null,
  oldest: number,
  newest: number,
): Promise<FoundLog[]> {
  const topics = payers === null ? [[USED]] : [[USED], payers.map(wordOf)];
  return await search.rpc.findLogs({ ...tokensOf(search), topics }, oldest, newest);
}

function tokensOf({ network }: Pick<Search, 'network'>): { address: Hex[] } {
  return { address: network.tokens.map((token) => token.address) };
}

function wordOf(address: string): Hex {
  return pad(`0x${address.slice(2)}`);
}

function addressIn(word: Hex): Hex {
  return `0x${slice(word, 12).slice(2).toLowerCase()}`;
}

function parseTransfer(log: FoundLog): TransferLog[] {
  const [event, from, to, ...rest] = log.topics;
  if (event?.toLowerCase() !== TRANSFER || !isWord(from) || !isWord(to) || rest.length > 0) return [];
  if (!isWord(log.data)) return [];
  const asset: Hex = `0x${log.address.slice(2).toLowerCase()}`;
  return [{ ...log, asset, from: addressIn(from), to: addressIn(to), value: BigInt(log.data) }];
}

export function isWord(text: string | undefined): text is Hex {
  return text !== undefined && isHex(text) && text.length === 66;
}
