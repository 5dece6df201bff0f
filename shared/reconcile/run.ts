import type { ChainReader } from '../chains/chain-reader.js';
import type { Chains } from '../chains/chains.js';
import type { Config } from '../config/config.js';
import type { WriteDeps } from '../settlement/carry-out.js';
import { utcText } from '../wire/timestamp.js';
import type { PaymentReferences } from '../x402/payment-reference.js';
import type { Line, LineStatus } from './line.js';
import type { Reader } from './positions.js';
import type { Wallets } from './wallets.js';

/** A public endpoint's newest block is at most some minutes old. */
const MOST_BEHIND_MS = 10 * 60_000;
const DEFAULT_SINCE_MS = 24 * 3_600_000;
/** A block or payment that could not be read for a week is given up. */
export const GIVEN_UP_MS = 7 * 24 * 3_600_000;

export interface ReconcileDeps extends WriteDeps {
  config: Pick<Config, 'confirmations'>;
  chains: Chains;
  chainReader: ChainReader;
  references: PaymentReferences;
}

/** The settings of one run, and its findings so far. */
export interface Run {
  reader: Reader;
  repair: boolean;
  /** Undefined: all accounts. */
  accountId: string | undefined;
  /** Undefined: from where the last run stopped, or from a day ago. */
  since: Date | undefined;
  startedAt: Date;
  /** A list that was never read is read from this time on. */
  firstTime: Date;
  /** Succeeded payments that were claimed within this time are left to the next run. */
  leavesMs: number;
  onLine(line: Line): Promise<void> | void;
  /** Called now and then; false ends the run. */
  goesOn(): Promise<boolean>;
  /** The payments whose money the run has seen. */
  seen: Set<string>;
  summary: Summary;
}

export interface Summary extends Record<LineStatus, number> {
  /** Unrecorded transfers that are recorded now; they are counted as unrecorded, too. */
  repaired: number;
  /** Money of payments that are not decided yet. */
  undecided: number;
  /** EVM transfers to the wallets that used no authorization. */
  others: number;
  /** The lists that could not be read; the next run reads them. */
  unread: Unread[];
}

export interface Unread {
  network: string;
  /** Undefined: the network from some point on. */
  transaction?: string;
  payment?: string;
  /** The transfers to this wallet in this block, of this payer or of all. */
  wallet?: string;
  block?: number;
  payer?: string;
  reason: string;
}

/** The transactions that an endpoint has listed from one block or slot to another, both included. */
export interface Listed {
  oldest: number;
  newest: number;
  transactions: ReadonlySet<string>;
  /** The wallets' blocks that are known to be unread, by `keyOfBlock`. */
  unread: ReadonlySet<string>;
  /** False once a payment is found that the list has left out. */
  isComplete: boolean;
  /** Lets the next run begin at `oldest`, too. */
  beginAgain(): Promise<void>;
}

/** A part of a chain that is judged at once. */
export interface NetworkRun {
  run: Run;
  deps: ReconcileDeps;
  network: string;
  wallets: Wallets;
  /** How many blocks a transfer needs from its own to the newest, both included. */
  confirmations: number;
  /** The list in which a transfer of this token to this wallet has to be. Undefined: none was read. */
  listedFor(transfer: { payTo: string; asset: string }): Listed | undefined;
}

/** The time from which a run reads a list that was never read, unless it is told another. */
export function firstTimeOf(startedAt: Date): Date {
  return new Date(startedAt.getTime() - DEFAULT_SINCE_MS);
}

/** The run was told to stop; the next one goes on where it stopped. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded';
}

export async function requireTime({ goesOn }: Run): Promise<void> {
  if (!(await goesOn())) throw new RunEnded('the run was ended');
}

export function emptySummary(): Summary {
  return {
    matched: 0,
    unrecorded: 0,
    missing: 0,
    different: 0,
    repaired: 0,
    undecided: 0,
    others: 0,
    unread: [],
  };
}

/** Whether every line is `matched`, and everything could be read. A repair finds its transfer unrecorded. */
export function isAllMatched({ unrecorded, missing, different, unread }: Summary): boolean {
  return unrecorded === 0 && missing === 0 && different === 0 && unread.length === 0;
}

/**
 * Counts the network as unread when its newest block, of the time `head`, is old: transfers since that block are not read,
 * whether the endpoint is behind or the chain stands still.
 */
export function reportOldHead({ run, network }: Pick<NetworkRun, 'run' | 'network'>, head: Date): void {
  if (run.startedAt.getTime() - head.getTime() <= MOST_BEHIND_MS) return;
  run.summary.unread.push({ network, reason: `the endpoint's newest block is of ${utcText(head)}` });
}
