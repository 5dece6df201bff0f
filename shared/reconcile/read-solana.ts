import type { Arrival } from '../chains/check/arrival.js';
import type { SvmNetwork } from '../chains/networks/networks.js';
import type { TokenAccount } from '../chains/solana/solana-arrivals.js';
import type { SignatureEntry, SolanaRoot } from '../chains/solana/solana-rpc.js';
import { inGroups } from '../values/in-groups.js';
import { judgeArrivals, judgeWaiting } from './judge-arrivals.js';
import { type NewPosition, openList } from './open-list.js';
import { openProgress, positionAt, transactionOf, waitingOf } from './progress.js';
import { type Listed, type NetworkRun, reportOldHead, requireTime } from './run.js';

/** The slots of five minutes are read again by the next run: a node's list by account may be behind the node. */
const READ_AGAIN = 750;
const ENTRIES_AT_ONCE = 20;
const FETCHED_AT_ONCE = 5;
const BEGINNING = { slot: 0, time: new Date(0) };

/** Reads the transactions of each wallet's token accounts. */
export async function readSolana(networkRun: NetworkRun, network: SvmNetwork): Promise<void> {
  const root = await networkRun.deps.chainReader.solanaRoot(network);
  reportOldHead(networkRun, root.time);
  const lists = new Map<string, Listed>();
  const keyOf = (payTo: string, asset: string): string => `${payTo} ${asset}`;
  networkRun.listedFor = ({ payTo, asset }) => lists.get(keyOf(payTo, asset));
  for (const wallet of networkRun.wallets.keys()) {
    for (const token of network.tokens) {
      const account = { wallet, token: { ...token, family: 'svm', network } } as const;
      lists.set(keyOf(wallet, token.address), await readAccount(networkRun, account, root));
    }
  }
}

async function readAccount(networkRun: NetworkRun, account: TokenAccount, root: SolanaRoot): Promise<Listed> {
  const { run, deps } = networkRun;
  const {
    last,
    resumed: stored,
    ...list
  } = await openList(networkRun, `${account.wallet} ${account.token.address}`);
  const end =
    stored === undefined
      ? { ...BEGINNING, time: run.since ?? run.firstTime }
      : { ...BEGINNING, slot: stored.position };
  await requireTime(run);
  const entries = await deps.chainReader.solanaList(account, root, end);
  const listed = new Set(entries.map(({ signature }) => signature));
  const waiting =
    last === undefined ? [] : waitingOf(last).filter(({ transaction }) => !listed.has(transaction));
  const progress = openProgress(stored?.reported ?? [], waiting);
  const timeOf = async ({ at }: Arrival): Promise<Date | undefined> => at;
  await judgeWaiting(networkRun, waiting, progress, {
    timeOf,
    read: ({ transaction: signature, height: slot }) =>
      readEntries(networkRun, account, [{ signature, slot, blockTime: undefined, memo: undefined }]),
  });
  // Keeps the slot itself, since the next group may begin with transactions of the same slot.
  const positionOf = (slot: number): NewPosition =>
    positionAt(progress, Math.max(Math.min(slot, root.slot - READ_AGAIN), stored?.position ?? 0));
  // A transaction brings an account one transfer at most, so a reported transaction needs no second reading.
  const reported = new Set([...progress.reported.keys()].map(transactionOf));
  const fresh = entries.filter(({ signature }) => !reported.has(signature));
  for (const some of inGroups(fresh, ENTRIES_AT_ONCE)) {
    await requireTime(run);
    const arrivals = await readEntries(networkRun, account, some);
    await judgeArrivals(networkRun, arrivals, progress, timeOf);
    await list.keep(positionOf(some.at(-1)?.slot ?? 0));
  }
  await list.keepAtEnd(positionOf(root.slot), root.time);
  const oldest = stored?.position ?? entries[0]?.slot ?? root.slot;
  return {
    oldest,
    newest: root.slot - READ_AGAIN,
    transactions: listed,
    unread: new Set(),
    isComplete: true,
    beginAgain: () => list.keep(positionAt(progress, oldest)),
  };
}

async function readEntries(
  { run, deps, network }: NetworkRun,
  account: TokenAccount,
  entries: readonly SignatureEntry[],
): Promise<Arrival[]> {
  const arrivals: Arrival[] = [];
  for (const some of inGroups(entries, FETCHED_AT_ONCE)) {
    const read = await Promise.all(some.map((entry) => deps.chainReader.solanaArrival(account, entry)));
    for (const [index, arrival] of read.entries()) {
      if (arrival === 'unreadable') {
        const transaction = some[index]?.signature ?? '';
        run.summary.unread.push({ network, transaction, reason: 'the transaction is of a later version' });
      } else if (arrival !== undefined) arrivals.push(arrival);
    }
  }
  return arrivals;
}
