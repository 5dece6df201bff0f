import type { Arrival } from '../chains/check/arrival.js';
import { ChainUnreadable } from '../chains/check/unreadable.js';
import { inGroups } from '../values/in-groups.js';
import { type BookedPayment, findBookedPayables, findBookedPayments, keyOf } from './books.js';
import { type Judgement, judgeArrival } from './judge-arrival.js';
import type { Line, LineStatus } from './line.js';
import { nameOf, type Progress, type WaitingTransfer } from './progress.js';
import { repair } from './repair.js';
import { type NetworkRun, requireTime } from './run.js';
import { keyOfWallet } from './wallets.js';

/** Transfers are looked up in the books, and reported, in groups of this size. */
const AT_ONCE = 100;

type TimeOf = (arrival: Arrival) => Promise<Date | undefined>;

/**
 * Holds arrivals against the books and reports each arrival once. Notes in `progress` the reported arrivals and the arrivals
 * that the next run looks at again. `timeOf` reads the time of an arrival that has none yet.
 */
export async function judgeArrivals(
  networkRun: NetworkRun,
  arrivals: readonly Arrival[],
  { reported, waiting }: Progress,
  timeOf: TimeOf,
): Promise<void> {
  const isNew = (arrival: Arrival): boolean => !reported.has(nameOf(arrival));
  const fresh = arrivals.filter(isNew);
  for (const group of inGroups(fresh, AT_ONCE)) {
    const judgements = await judgeAll(networkRun, group);
    for (const [index, arrival] of group.entries()) {
      const judgement = judgements[index];
      if (judgement === undefined) continue;
      const outcome = await reportJudged(networkRun, arrival, judgement, timeOf);
      waiting.delete(nameOf(arrival));
      if (outcome === 'reported') reported.set(nameOf(arrival), arrival.height);
      if (outcome === 'waits') waiting.set(nameOf(arrival), arrival.height);
    }
  }
}

/**
 * Judges transfers that an earlier run left undecided, each read anew. A transfer that the chain does not show now goes on
 * waiting: not finding it proves nothing.
 */
export async function judgeWaiting(
  networkRun: NetworkRun,
  waiting: readonly WaitingTransfer[],
  progress: Progress,
  { read, timeOf }: { read(transfer: WaitingTransfer): Promise<Arrival[]>; timeOf: TimeOf },
): Promise<void> {
  const { run, network } = networkRun;
  for (const transfer of waiting) {
    await requireTime(run);
    const { name, transaction } = transfer;
    try {
      const same = (await read(transfer)).filter((arrival) => nameOf(arrival) === name);
      if (same.length === 0) throw new ChainUnreadable('the chain does not show the transfer any more');
      await judgeArrivals(networkRun, same, progress, timeOf);
    } catch (error) {
      if (!(error instanceof ChainUnreadable)) throw error;
      run.summary.unread.push({ network, transaction, reason: error.message });
    }
  }
}

async function judgeAll(
  { deps: { db, references }, wallets }: NetworkRun,
  arrivals: readonly Arrival[],
): Promise<Judgement[]> {
  const booked = await findBookedPayments(
    db,
    arrivals.flatMap((arrival) => keyOf(arrival) ?? []),
  );
  const bookedOf = (arrival: Arrival): BookedPayment | undefined => {
    const key = keyOf(arrival);
    return key === undefined ? undefined : booked.get(key);
  };
  const named = arrivals.map((arrival) => {
    const [payableId] = arrival.references.flatMap((one) => references.read(one)?.payableId ?? []);
    return payableId;
  });
  const payables = await findBookedPayables(
    db,
    named.flatMap((payableId) => payableId ?? []),
  );
  return arrivals.map((arrival, index) => {
    const payableId = named[index];
    return judgeArrival(arrival, {
      booked: bookedOf(arrival),
      payableId,
      payable: payableId === undefined ? undefined : payables.get(payableId),
      isMerchants: wallets.get(keyOfWallet(arrival.payTo))?.isMerchants === true,
    });
  });
}

/** A transfer waits while its payment is undecided, and while a repair finds no proof of it: the endpoint may give it later. */
async function reportJudged(
  networkRun: NetworkRun,
  arrival: Arrival,
  judgement: Judgement,
  timeOf: TimeOf,
): Promise<'reported' | 'waits' | 'not_ours'> {
  const { run } = networkRun;
  if (judgement.kind === 'not_ours') return 'not_ours';
  if (judgement.kind === 'undecided') {
    run.summary.undecided += 1;
    return 'waits';
  }
  const isMatched = judgement.line.status === 'matched';
  const at = arrival.at ?? (isMatched ? undefined : await timeOf(arrival));
  const dated = { ...judgement, line: { ...judgement.line, at: at ?? null } };
  const line =
    dated.kind === 'recordable' && run.repair
      ? await repair(networkRun, { ...arrival, at }, dated)
      : dated.line;
  if (line === 'taken') {
    const [again] = await judgeAll(networkRun, [arrival]);
    // A payload that was released in between is the next run's business.
    const isReleased = again === undefined || again.kind === 'recordable';
    return await reportJudged(networkRun, arrival, isReleased ? { kind: 'undecided' } : again, timeOf);
  }
  await report(networkRun, line);
  return line.obstacle === 'not_proven' ? 'waits' : 'reported';
}

/** A regular run has no reader but the log. */
const FINDINGS: Partial<Record<LineStatus, string>> = {
  unrecorded: 'reconcile.unrecorded',
  missing: 'reconcile.missing',
  different: 'reconcile.different',
};

export async function report({ run, deps }: Pick<NetworkRun, 'run' | 'deps'>, line: Line): Promise<void> {
  const { status, network, transaction, paymentId: payment, payableId: session } = line;
  run.summary[status] += 1;
  if (line.repaired) run.summary.repaired += 1;
  if (payment !== undefined) run.seen.add(payment);
  const event = FINDINGS[status];
  if (event !== undefined && run.reader === 'worker')
    deps.logger.error({ event, payment, session, network, transaction });
  await run.onLine(line);
}
