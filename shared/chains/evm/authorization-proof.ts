import { type Hex, isHex, pad, toEventSelector } from 'viem';
import type { EvmLog, LogFilter } from './evm-rpc.js';

export interface Authorization {
  asset: Hex;
  from: Hex;
  nonce: Hex;
}

export interface AuthorizedPayment extends Authorization {
  payTo: Hex;
  amount: bigint;
}

export type AuthorizationVerdict =
  | { kind: 'absent' }
  | { kind: 'transferred'; logIndex: number }
  /** The authorization was canceled, or used for something else. */
  | { kind: 'spent' }
  | { kind: 'ambiguous' };

type Entry = { logIndex: number } & (
  | { kind: 'used' | 'canceled'; nonce: string }
  | { kind: 'transfer'; to: string; value: bigint }
);
type TransferEntry = Extract<Entry, { kind: 'transfer' }>;

export const USED = toEventSelector('AuthorizationUsed(address,bytes32)');
export const CANCELED = toEventSelector('AuthorizationCanceled(address,bytes32)');
export const TRANSFER = toEventSelector('Transfer(address,address,uint256)');

/** Matches the log by which the authorization was used or cancelled; a chain has at most one. */
export function authorizationLogFilter({ asset, from, nonce }: Authorization): LogFilter {
  return { address: asset, topics: [[USED, CANCELED], [pad(from)], [nonce]] };
}

export function isAuthorizationLog(log: EvmLog, payment: Authorization): boolean {
  const entry = readEntry(log, payment);
  return entry !== undefined && entry.kind !== 'transfer' && isSame(entry.nonce, payment.nonce);
}

/**
 * Judges what the logs of one transaction prove about one EIP-3009 authorization. A token logs the use of an authorization
 * and its Transfer next to each other, so the two are matched by log index: one transaction may hold other payments of
 * the same buyer to the same merchant, and a payer may have signed one nonce for two recipients. A Transfer never counts
 * for two authorizations, and an ambiguous order of logs proves nothing.
 */
export function judgeAuthorization(
  logs: readonly EvmLog[],
  payment: AuthorizedPayment,
): AuthorizationVerdict {
  const entries = readEntries(logs, payment);
  const mine = findOwnEntry(entries, payment);
  if (mine === undefined) return { kind: 'absent' };
  if (mine.kind === 'canceled') return { kind: 'spent' };
  // EIP-3009's reference implementation and every token of the table log the use first.
  const pairs = pairWithNeighbours(entries, 1) ?? pairWithNeighbours(entries, -1);
  const transfer = pairs?.get(mine);
  if (pairs === undefined || transfer === undefined) return { kind: 'ambiguous' };
  if (pays(transfer, payment)) return { kind: 'transferred', logIndex: transfer.logIndex };
  const taken = new Set(pairs.values());
  const another = entries.some(
    (entry) => entry.kind === 'transfer' && !taken.has(entry) && pays(entry, payment),
  );
  return { kind: another ? 'ambiguous' : 'spent' };
}

/**
 * Judges by logs that searches have found. An endpoint may have left some out: only a Transfer with the very next index shows
 * what the authorization was used for.
 */
export function judgeFoundLogs(logs: readonly EvmLog[], payment: AuthorizedPayment): AuthorizationVerdict {
  const entries = readEntries(logs, payment);
  const mine = findOwnEntry(entries, payment);
  if (mine === undefined) return { kind: 'absent' };
  if (mine.kind !== 'used') return { kind: 'spent' };
  const next = entries.find(({ logIndex }) => logIndex === mine.logIndex + 1);
  if (next?.kind !== 'transfer') return { kind: 'ambiguous' };
  return pays(next, payment) ? { kind: 'transferred', logIndex: next.logIndex } : { kind: 'spent' };
}

function readEntries(logs: readonly EvmLog[], payment: Authorization): Entry[] {
  const inOrder = [...logs].sort((a, b) => a.logIndex - b.logIndex);
  return inOrder.flatMap((log) => readEntry(log, payment) ?? []);
}

function findOwnEntry(entries: readonly Entry[], { nonce }: Authorization): Entry | undefined {
  return entries.find((entry) => entry.kind !== 'transfer' && isSame(entry.nonce, nonce));
}

/** Pairs each used authorization with the Transfer right after (1) or before (-1) it; undefined unless all have one. */
function pairWithNeighbours(entries: readonly Entry[], side: 1 | -1): Map<Entry, TransferEntry> | undefined {
  const pairs = new Map<Entry, TransferEntry>();
  for (const [index, entry] of entries.entries()) {
    if (entry.kind !== 'used') continue;
    const neighbour = entries[index + side];
    if (neighbour?.kind !== 'transfer') return undefined;
    pairs.set(entry, neighbour);
  }
  return pairs;
}

/** Undefined for logs of other contracts and of other payers. */
function readEntry(log: EvmLog, { asset, from }: Authorization): Entry | undefined {
  const [event, owner, second, ...rest] = log.topics;
  if (!isSame(log.address, asset) || !isSame(owner, pad(from)) || second === undefined || rest.length > 0) {
    return undefined;
  }
  const { logIndex } = log;
  if (isSame(event, USED)) return { kind: 'used', nonce: second, logIndex };
  if (isSame(event, CANCELED)) return { kind: 'canceled', nonce: second, logIndex };
  if (!isSame(event, TRANSFER) || !isHex(log.data) || log.data.length !== 66) return undefined;
  return { kind: 'transfer', to: second, value: BigInt(log.data), logIndex };
}

function pays({ to, value }: TransferEntry, { payTo, amount }: AuthorizedPayment): boolean {
  return isSame(to, pad(payTo)) && value >= amount;
}

function isSame(hex: string | undefined, other: string): boolean {
  return hex?.toLowerCase() === other.toLowerCase();
}
