import type { ChainFinding } from '../chains/check/finding.js';
import { isSameAddress } from '../chains/networks/text-forms.js';
import { Payment } from '../payments/model.js';
import type { PaymentStatus } from '../payments/states.js';
import { certainNow, DISAGREE_MS, now } from '../process/clock.js';
import { createdAt, lowestIdAt } from '../values/ids.js';
import { inGroups } from '../values/in-groups.js';
import { readStoredPayment } from '../x402/stored-payment.js';
import { report } from './judge-arrivals.js';
import type { Line } from './line.js';
import { type NewPosition, openList } from './open-list.js';
import { GIVEN_UP_MS, type Listed, type NetworkRun, requireTime } from './run.js';
import { keyOfBlock } from './unread-blocks.js';

const PAGE = 200;
const CHECKED_AT_ONCE = 5;
const CHECK_WITHIN_MS = 30_000;
/** Ids that one position keeps, the newest ones. */
const MAX_UNCHECKED = 5000;

/**
 * Asks the chain for each succeeded payment whose money the run has not seen. A payment that cannot be read, or that is not
 * decided yet and may succeed, is asked for again by the next run.
 */
export async function checkSucceeded(networkRun: NetworkRun): Promise<void> {
  const {
    run,
    deps: { db },
  } = networkRun;
  const { last, resumed, ...list } = await openList(networkRun, 'payments');
  // The payments that the run has just recorded count as seen.
  const nowMs = certainNow().getTime();
  const until = nowMs + 1 - run.leavesMs;
  // A position in the future was written while a clock was ahead, so it does not say how far the payments were checked.
  const reached =
    resumed !== undefined && resumed.position <= nowMs + DISAGREE_MS ? resumed.position : undefined;
  let after = lowestIdAt('pay_', reached ?? (run.since ?? run.firstTime).getTime());
  const oldest = lowestIdAt('pay_', nowMs - GIVEN_UP_MS);
  // Undecided payments are read before the succeeded ones, so that a payment that succeeds meanwhile is among either.
  const unchecked = new Set(await undecidedBefore(networkRun, until));
  const checkPage = async (page: readonly Payment[]): Promise<void> => {
    for (const id of await checkAll(networkRun, page)) if (id > oldest) unchecked.add(id);
  };
  const positionAt = (position: number): NewPosition => ({
    position,
    reported: [],
    unchecked: [...unchecked].slice(-MAX_UNCHECKED),
  });

  const left = last?.unchecked.filter((id) => id < after) ?? [];
  for (const ids of inGroups(left, PAGE)) {
    await requireTime(run);
    await checkPage(await Payment.query(db).where(paymentsOf(networkRun, 'succeeded')).whereIn('id', ids));
  }
  for (;;) {
    await requireTime(run);
    const page = await Payment.query(db)
      .where(paymentsOf(networkRun, 'succeeded'))
      .where('id', '>', after)
      .where('id', '<', lowestIdAt('pay_', until))
      .orderBy('id')
      .limit(PAGE);
    await checkPage(page);
    const end = page.at(-1)?.id;
    if (end === undefined || page.length < PAGE) break;
    after = end;
    await list.keep(positionAt(createdAt(end).getTime()));
  }
  await list.keepAtEnd(positionAt(Math.max(until, reached ?? 0)), new Date(until));
}

function paymentsOf({ run: { accountId }, network }: NetworkRun, status: PaymentStatus): Partial<Payment> {
  return { status, network, ...(accountId !== undefined && { accountId }) };
}

async function undecidedBefore(networkRun: NetworkRun, untilMs: number): Promise<string[]> {
  const undecided = await Payment.query(networkRun.deps.db)
    .where(paymentsOf(networkRun, 'processing'))
    .where('id', '<', lowestIdAt('pay_', untilMs))
    .orderBy('id')
    .limit(MAX_UNCHECKED)
    .select('id');
  return undecided.map(({ id }) => id);
}

/** Returns the ids of the payments that are to be asked for again. */
async function checkAll(networkRun: NetworkRun, payments: readonly Payment[]): Promise<string[]> {
  const again: string[] = [];
  const unseen = payments.filter(({ id }) => !networkRun.run.seen.has(id));
  for (const [group, some] of inGroups(unseen, CHECKED_AT_ONCE).entries()) {
    // At an endpoint that hangs, a page takes twenty minutes: longer than a worker's lease.
    if (group > 0) await requireTime(networkRun.run);
    const isChecked = await Promise.all(some.map((payment) => checkOne(networkRun, payment)));
    again.push(...some.flatMap(({ id }, index) => (isChecked[index] ? [] : [id])));
  }
  return again;
}

/** Reports a payment that the chain contradicts. False when it is to be asked for again. */
async function checkOne(networkRun: NetworkRun, payment: Payment): Promise<boolean> {
  const { run, deps, network } = networkRun;
  const unread = (reason: string): false => {
    run.summary.unread.push({ network, payment: payment.id, reason });
    return false;
  };
  const finding = await checkChain(deps, payment);
  switch (finding.kind) {
    // The transfer is reported when its block is read, by an earlier or a later run.
    case 'paid': {
      if (!isTransactionOf(payment, finding.transaction))
        await report({ run, deps }, differentTransaction(payment, finding.transaction));
      const list = listWithout(networkRun, payment, finding);
      if (list === undefined) return true;
      await readListAgain(list);
      return unread('the endpoint shows its transfer, and left it out of the list of transfers');
    }
    case 'unused': {
      const reason = whyMayStillBeThere(payment, finding);
      if (reason === undefined) {
        await report({ run, deps }, lineOfPayment(payment, 'missing'));
        return true;
      }
      // A command reports the payment and the endpoint that is behind; a worker's report would raise an alert.
      if (run.reader !== 'worker')
        await report({ run, deps }, { ...lineOfPayment(payment, 'missing'), obstacle: 'endpoint_behind' });
      return unread(reason);
    }
    case 'spent_otherwise':
      await report({ run, deps }, lineOfPayment(payment, 'missing'));
      return true;
    case 'pending':
      return unread('its transaction may still be dropped');
    default:
      return unread(finding.reason);
  }
}

/** The list that has to hold the payment's transfer and lacks it. A transfer of nothing is in no list. */
function listWithout(
  { listedFor }: NetworkRun,
  payment: Payment,
  { transaction, height }: Extract<ChainFinding, { kind: 'paid' }>,
): Listed | undefined {
  const list = listedFor(payment);
  if (list === undefined || height < list.oldest || height > list.newest) return undefined;
  if (list.unread.has(keyOfBlock(payment.payTo, height))) return undefined;
  return list.transactions.has(transaction) || BigInt(payment.tokenAmount) === 0n ? undefined : list;
}

/** A list that lacks one transfer may lack others, of which no payment tells. Each list is begun again once in a run. */
async function readListAgain(list: Listed): Promise<void> {
  const isFirst = list.isComplete;
  list.isComplete = false;
  if (isFirst) await list.beginAgain();
}

/**
 * Undefined: the block at which the authorization was unused is later than the payment. A block that is ahead of our clock shows
 * that the clock is behind the chain's; the time of the payment is then too early as well, and proves nothing.
 */
function whyMayStillBeThere(
  { settledAt, claimedAt }: Payment,
  { chainTime, exhausted }: Extract<ChainFinding, { kind: 'unused' }>,
): string | undefined {
  if (exhausted) return undefined;
  if (chainTime.getTime() > now().getTime() + DISAGREE_MS) return "our clock is behind the chain's";
  return chainTime > (settledAt ?? claimedAt) ? undefined : 'the endpoint is behind this payment';
}

async function checkChain({ chains }: NetworkRun['deps'], payment: Payment): Promise<ChainFinding> {
  try {
    const { transaction: reportedTransaction } = payment;
    const stored = Object.assign(new Payment(), payment, { reportedTransaction });
    const { chainQuery } = await readStoredPayment(stored);
    return await chains.check(chainQuery, { withinMs: CHECK_WITHIN_MS, inBackground: true });
  } catch (error) {
    return { kind: 'unreadable', reason: error instanceof Error ? error.message : String(error) };
  }
}

function isTransactionOf({ network, transaction }: Payment, found: string): boolean {
  return transaction !== null && isSameAddress(network, transaction, found);
}

function differentTransaction(payment: Payment, transaction: string): Line {
  return { ...lineOfPayment(payment, 'different'), transaction, differs: ['transaction'] };
}

function lineOfPayment(payment: Payment, status: Line['status']): Line {
  const { id: paymentId, payableId, accountId, network, asset, transaction, payer, payTo } = payment;
  return {
    status,
    network,
    asset,
    transaction,
    amount: BigInt(payment.tokenAmount),
    payer,
    payTo,
    at: payment.claimedAt,
    payableId,
    paymentId,
    accountId,
  };
}
