import type { Arrival } from '../chains/check/arrival.js';
import { ChainUnreadable } from '../chains/check/unreadable.js';
import type { UnreadTransfers } from '../chains/evm/wallet-logs.js';
import type { EvmNetwork } from '../chains/networks/networks.js';
import { judgeArrivals } from './judge-arrivals.js';
import { nameOf as nameOfArrival, type Progress, type WaitingTransfer } from './progress.js';
import { GIVEN_UP_MS, type NetworkRun, requireTime } from './run.js';
import { keyOfWallet } from './wallets.js';

/** Stands for the transaction in the name of a block that waits. No transaction is called so. */
const UNREAD = 'unread';
const EVERY_PAYER = 'all';
const TOO_MANY = 'the block has more logs about it than one answer of the endpoint holds';

/** A block names itself, since the transfers of one wallet may wait in several. */
function nameOf({ wallet, block, payer = EVERY_PAYER }: UnreadTransfers): string {
  return [UNREAD, payer, wallet, block].join(' ');
}

/** Undefined for a transfer that waits by itself. */
function unreadNamed({ name, height, payTo }: WaitingTransfer): UnreadTransfers | undefined {
  const [what, payer] = name.split(' ');
  if (what !== UNREAD) return undefined;
  return { wallet: payTo, block: height, payer: payer === EVERY_PAYER ? undefined : payer };
}

/** Splits what waits into the transfers that are known and the blocks that were not read. */
export function splitWaiting(waiting: readonly WaitingTransfer[]): {
  transfers: WaitingTransfer[];
  blocks: UnreadTransfers[];
} {
  return {
    transfers: waiting.filter((one) => unreadNamed(one) === undefined),
    blocks: waiting.flatMap((one) => unreadNamed(one) ?? []),
  };
}

/** Names a wallet's transfers of one block as unread; the next runs try to read them. */
export function leaveUnread(networkRun: NetworkRun, progress: Progress, unread: UnreadTransfers): void {
  report(networkRun, unread, TOO_MANY);
  progress.waiting.set(nameOf(unread), unread.block);
}

function report({ run, network }: NetworkRun, unread: UnreadTransfers, reason: string): void {
  const { wallet, block, payer } = unread;
  run.summary.unread.push({ network, wallet, block, ...(payer !== undefined && { payer }), reason });
}

/** Tries again what earlier runs could not read. A block that stays unreadable for a week is given up: anybody can fill one. */
export async function readUnreadBlocks(
  networkRun: NetworkRun,
  network: EvmNetwork,
  blocks: readonly UnreadTransfers[],
  progress: Progress,
): Promise<void> {
  for (const block of blocks) {
    await requireTime(networkRun.run);
    try {
      await readAgain(networkRun, network, block, progress);
    } catch (error) {
      if (!(error instanceof ChainUnreadable)) throw error;
      report(networkRun, block, error.message);
    }
  }
}

async function readAgain(
  networkRun: NetworkRun,
  network: EvmNetwork,
  left: UnreadTransfers,
  progress: Progress,
): Promise<void> {
  const { run, deps } = networkRun;
  const { wallet, block, payer } = left;
  const range = { oldest: block, newest: block };
  const { arrivals, unread } = await deps.chainReader.evmArrivals(network, [wallet], range);
  // The time is read before the first line: no call to the endpoint may fail between a line and its note.
  const time = await deps.chainReader.evmTimeOf(network, block);
  const isOfPayer = (one: string | null | undefined): boolean =>
    payer === undefined || one === undefined || one?.toLowerCase() === payer;
  const stillUnread = unread.filter((one) => isOfPayer(one.payer));
  progress.waiting.delete(nameOf(left));
  if (stillUnread.length === 0 || payer === undefined) {
    const fresh = arrivals.filter((arrival) => isOfPayer(arrival.payer));
    await judgeArrivals(networkRun, fresh, progress, async () => time);
  }
  const isGivenUp = time !== undefined && run.startedAt.getTime() - time.getTime() > GIVEN_UP_MS;
  // The wallet's transfers of other payers are reported, so that one payer's go on waiting alone.
  for (const one of payer !== undefined && stillUnread.length > 0 ? [left] : stillUnread) {
    if (isGivenUp) report(networkRun, one, `${TOO_MANY}; later runs leave it`);
    else leaveUnread(networkRun, progress, one);
  }
}

/** Names a wallet's transfers of one block, whoever paid them. */
export function keyOfBlock(wallet: string, block: number): string {
  return `${keyOfWallet(wallet)} ${block}`;
}

/** Reads a known transfer of an earlier run again. */
export async function readTransfer(
  { deps }: NetworkRun,
  network: EvmNetwork,
  { height, payTo, name }: WaitingTransfer,
): Promise<Arrival[]> {
  const range = { oldest: height, newest: height };
  const { arrivals, unread } = await deps.chainReader.evmArrivals(network, [payTo], range);
  const isShown = arrivals.some((arrival) => nameOfArrival(arrival) === name);
  if (!isShown && unread.length > 0) throw new ChainUnreadable(TOO_MANY);
  return arrivals;
}
