import type { Arrival } from '../chains/check/arrival.js';
import { ChainUnreadable } from '../chains/check/unreadable.js';
import type { EvmNetwork } from '../chains/networks/networks.js';
import { judgeArrivals, judgeWaiting } from './judge-arrivals.js';
import { openList } from './open-list.js';
import { openProgress, positionAt, type WaitingTransfer, waitingOf } from './progress.js';
import { type Listed, type NetworkRun, reportOldHead, requireTime } from './run.js';
import { keyOfBlock, leaveUnread, readTransfer, readUnreadBlocks, splitWaiting } from './unread-blocks.js';
import { keyOfWallet, type Wallets } from './wallets.js';

/** The blocks of this time before the head are read again by the next run: they may be reorganised, and a node may have lacked them. */
const READ_AGAIN_MS = 5 * 60_000;
/**
 * A chain whose newest block is so far before the position, and not before the time of the last reading, is another chain,
 * such as a developer's.
 */
const OTHER_CHAIN_BLOCKS = 10_000;

/** Reads the transfers of a network up to its newest confirmed block, range by range. */
export async function readEvm(
  networkRun: NetworkRun,
  network: EvmNetwork,
  walletsOf: () => Promise<Wallets>,
): Promise<void> {
  const { run, deps, confirmations, network: caip2 } = networkRun;
  const { chainReader } = deps;
  const { last, resumed, ...list } = await openList(networkRun, '');
  const head = await chainReader.evmHead(network);
  // The wallets are read after the head, up to which the position moves: later runs do not read the blocks before it for a
  // wallet that is new since.
  networkRun.wallets = await walletsOf();
  const newest = head.number - Math.max(confirmations - 1, 0);
  const isSameChain =
    last !== undefined &&
    (last.position - newest < OTHER_CHAIN_BLOCKS || (last.readUntil !== null && head.time < last.readUntil));
  const known = isSameChain ? resumed : undefined;
  if (isSameChain && head.number < last.position)
    run.summary.unread.push({
      network: caip2,
      reason: 'the endpoint is behind what an earlier run has read',
    });
  else reportOldHead(networkRun, head.time);
  const first =
    known === undefined
      ? await chainReader.evmBlockBefore(network, run.since ?? run.firstTime)
      : known.position;
  if (known !== undefined && first <= newest && (await chainReader.evmTimeOf(network, first)) === undefined)
    throw new ChainUnreadable('the endpoint keeps no blocks from where an earlier run has stopped');
  const againFrom = await chainReader.evmBlockBefore(network, new Date(head.time.getTime() - READ_AGAIN_MS));
  const readAgain = head.number - againFrom;
  const waiting = isSameChain ? waitingOf(last).filter(({ height }) => height < first) : [];
  const reported = isSameChain ? last.reported : [];
  const progress = openProgress(
    reported.filter(([, height]) => known !== undefined || height < first),
    waiting,
  );
  const timeOf = ({ height }: Arrival): Promise<Date | undefined> => chainReader.evmTimeOf(network, height);
  const { transfers, blocks } = splitWaiting(waiting);
  const read = (transfer: WaitingTransfer): Promise<Arrival[]> => readTransfer(networkRun, network, transfer);
  await judgeWaiting(networkRun, transfers, progress, { timeOf, read });
  await readUnreadBlocks(networkRun, network, blocks, progress);
  const receivers = [...networkRun.wallets.keys()];
  const transactions = new Set<string>();
  const leftUnread = new Set<string>();
  let next = first;
  while (next <= newest) {
    await requireTime(run);
    const range = { oldest: next, newest };
    const { arrivals, others, unread, upTo } = await chainReader.evmArrivals(network, receivers, range);
    run.summary.others += others;
    for (const { transaction } of arrivals) transactions.add(transaction);
    for (const one of unread) {
      leftUnread.add(keyOfBlock(one.wallet, one.block));
      leaveUnread(networkRun, progress, one);
    }
    await judgeArrivals(networkRun, arrivals, progress, timeOf);
    const reached = Math.max(Math.min(upTo, newest - readAgain) + 1, known?.position ?? 0);
    const position = positionAt(progress, reached);
    await (upTo < newest ? list.keep(position) : list.keepAtEnd(position, head.time));
    next = upTo + 1;
  }
  const listed: Listed = {
    oldest: first,
    newest: newest - readAgain,
    transactions,
    unread: leftUnread,
    isComplete: true,
    beginAgain: () => list.keep(positionAt(progress, first)),
  };
  networkRun.listedFor = ({ payTo }) => (networkRun.wallets.has(keyOfWallet(payTo)) ? listed : undefined);
}
