import type { Arrival } from '../chains/arrival.js';
import { type BookedPayment, findAsked, findBooked, keyOf } from './books.js';
import { type Judgement, judgeArrival } from './judge-arrival.js';
import type { Line, LineStatus } from './line.js';
import { repair } from './repair.js';
import type { NetworkRun } from './run.js';
import { keyOfWallet } from './wallets.js';

/** Transfers are looked up in the books, and reported, in groups of this size. */
const AT_ONCE = 100;

/**
 * Holds arrivals against the books and reports each that was not told before. Adds what it tells to `told`. `timeOf` reads the
 * time of an arrival that has none yet.
 */
export async function judgeArrivals(
  networkRun: NetworkRun,
  arrivals: readonly Arrival[],
  told: Map<string, number>,
  timeOf: (arrival: Arrival) => Promise<Date | undefined>,
): Promise<void> {
  const isNew = (arrival: Arrival): boolean => !told.has(nameOf(arrival));
  const fresh = arrivals.filter(isNew);
  for (let next = 0; next < fresh.length; next += AT_ONCE) {
    const group = fresh.slice(next, next + AT_ONCE);
    const judgements = await judgeAll(networkRun, group);
    for (const [index, arrival] of group.entries()) {
      const judgement = judgements[index];
      if (judgement === undefined) continue;
      if (await tell(networkRun, arrival, judgement, timeOf)) told.set(nameOf(arrival), arrival.height);
    }
  }
}

function nameOf({ transaction, proofIndex, payTo, asset }: Arrival): string {
  return [transaction, proofIndex, payTo, asset].join(' ');
}

async function judgeAll(
  { deps: { db, references }, wallets }: NetworkRun,
  arrivals: readonly Arrival[],
): Promise<Judgement[]> {
  const booked = await findBooked(
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
  const asked = await findAsked(
    db,
    named.flatMap((payableId) => payableId ?? []),
  );
  return arrivals.map((arrival, index) => {
    const payableId = named[index];
    return judgeArrival(arrival, {
      booked: bookedOf(arrival),
      payableId,
      asked: payableId === undefined ? undefined : asked.get(payableId),
      isMerchants: wallets.get(keyOfWallet(arrival.payTo))?.isMerchants === true,
    });
  });
}

/** Whether the arrival is done with; an undecided payment is looked at again. */
async function tell(
  networkRun: NetworkRun,
  arrival: Arrival,
  judgement: Judgement,
  timeOf: (arrival: Arrival) => Promise<Date | undefined>,
): Promise<boolean> {
  const { run } = networkRun;
  if (judgement.kind === 'not_ours') return false;
  if (judgement.kind === 'undecided') {
    run.summary.undecided += 1;
    return false;
  }
  const isMatched = judgement.line.status === 'matched';
  const at = arrival.at ?? (isMatched ? undefined : await timeOf(arrival));
  const dated = { ...judgement, line: { ...judgement.line, at: at ?? null } };
  const line =
    dated.kind === 'recordable' && run.repair
      ? await repair(networkRun, { ...arrival, at }, dated)
      : dated.line;
  await report(networkRun, line);
  return true;
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
