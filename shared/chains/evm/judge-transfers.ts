import { getAddress, type Hex, pad } from 'viem';
import type { Arrival } from '../check/arrival.js';
import type { EvmNetwork } from '../networks/networks.js';
import { judgeAuthorization, USED } from './authorization-proof.js';
import type { EvmLog } from './evm-rpc.js';
import { isWord, type TransferLog, type UnreadTransfers } from './wallet-logs.js';

/** The judged transfers of a range of blocks. */
export interface Judged {
  arrivals: Arrival[];
  /** Transfers to the wallets without an authorization: not payments. */
  others: number;
  /** Transfers that could not be read: no arrival is one of them. */
  unread: UnreadTransfers[];
}

/** The logs of one transaction that tell whose its Transfers are. */
export interface TransactionLogs {
  from: 'receipt' | 'searches';
  found: readonly EvmLog[];
}

/** A wallet's whole block is unread where the transfers of more payers would be: a later run tries each by itself. */
const MOST_PAYERS_UNREAD = 10;

/** Every token of the table logs the use first, so that a use right before a Transfer of its payer is that Transfer's. */
export function nonceBefore(transfer: TransferLog, uses: readonly EvmLog[]): Hex | undefined {
  const use = uses.find(
    (log) =>
      log.transactionHash === transfer.transactionHash &&
      log.logIndex === transfer.logIndex - 1 &&
      isUseBy(log, transfer.asset, transfer.from),
  );
  return use && nonceOf(use);
}

/** Judges transfers of one transaction. Undefined logs leave them unread. */
export function judgeTransfers(
  network: EvmNetwork,
  transfers: readonly TransferLog[],
  logs: TransactionLogs | undefined,
): Judged {
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

/** A payer's transfers to a wallet in a block are read all or none, so that a later run that reads them reports none twice. */
export function withoutUnread({ arrivals, others, unread }: Judged): Judged {
  const keyOf = (...parts: unknown[]): string => parts.join(' ').toLowerCase();
  const payers = new Map<string, Set<string | undefined>>();
  for (const { wallet, block, payer } of unread) {
    const key = keyOf(block, wallet);
    payers.set(key, (payers.get(key) ?? new Set()).add(payer));
  }
  const byName = new Map<string, UnreadTransfers>();
  for (const { wallet, block, payer } of unread) {
    const isCrowd = (payers.get(keyOf(block, wallet))?.size ?? 0) > MOST_PAYERS_UNREAD;
    const one = { wallet, block, payer: isCrowd ? undefined : payer };
    byName.set(keyOf(block, wallet, one.payer), one);
  }
  const isRead = ({ height, payTo, payer }: Arrival): boolean =>
    ![payer, undefined].some((one) => byName.has(keyOf(height, payTo, one)));
  return { arrivals: arrivals.filter(isRead), others, unread: [...byName.values()] };
}

export function assetsOf({ tokens }: EvmNetwork): Hex[] {
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

export function presentArrival(
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
