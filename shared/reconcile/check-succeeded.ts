import type { ChainFinding } from '../chains/finding.js';
import { Payment } from '../payments/model.js';
import { nowMs } from '../process/clock.js';
import { createdAt, lowestIdAt } from '../values/ids.js';
import { readStoredPayment } from '../x402/stored-payment.js';
import { isSameAddress } from './books.js';
import { report } from './judge-arrivals.js';
import type { Line } from './line.js';
import { type ReadList, readPosition, writePosition } from './positions.js';
import { type NetworkRun, requireTime } from './run.js';

const PAGE = 200;
const CHECKED_AT_ONCE = 5;
const CHECK_WITHIN_MS = 30_000;

/** Asks the chain for each succeeded payment whose money the run has not seen. */
export async function checkSucceeded(networkRun: NetworkRun): Promise<void> {
  const { run, deps, network } = networkRun;
  const list: ReadList = { reader: run.reader, part: run.accountId ?? 'all', network, list: 'payments' };
  const stored = run.since === undefined ? await readPosition(deps.db, list) : undefined;
  // Payments that the run has recorded just now are among those that it has seen.
  const until = nowMs() + 1 - run.leavesMs;
  let after = lowestIdAt('pay_', stored?.position ?? (run.since ?? run.firstTime).getTime());
  for (;;) {
    await requireTime(run);
    const page = await readPage(networkRun, after, lowestIdAt('pay_', until));
    const unseen = page.filter(({ id }) => !run.seen.has(id));
    for (let next = 0; next < unseen.length; next += CHECKED_AT_ONCE) {
      const some = unseen.slice(next, next + CHECKED_AT_ONCE);
      await Promise.all(some.map((payment) => checkOne(networkRun, payment)));
    }
    const last = page.at(-1)?.id;
    if (last === undefined || page.length < PAGE) break;
    after = last;
    await writePosition(deps.db, list, { position: createdAt(last).getTime(), told: [] });
  }
  await writePosition(deps.db, list, { position: Math.max(until, stored?.position ?? 0), told: [] });
}

async function readPage(
  { run, deps, network }: NetworkRun,
  after: string,
  before: string,
): Promise<Payment[]> {
  const succeeded = Payment.query(deps.db)
    .where('id', '>', after)
    .where('id', '<', before)
    .where({ status: 'succeeded', network })
    .orderBy('id')
    .limit(PAGE);
  return await (run.accountId === undefined ? succeeded : succeeded.where({ accountId: run.accountId }));
}

async function checkOne({ run, deps, network }: NetworkRun, payment: Payment): Promise<void> {
  const unread = (reason: string): void =>
    void run.summary.unread.push({ network, payment: payment.id, reason });
  const finding = await look(deps, payment);
  switch (finding.kind) {
    // Its transfer is told when its block is read: an earlier run has, or a later one will.
    case 'paid':
      if (isTransactionOf(payment, finding.transaction)) return;
      return await report({ run, deps }, differentTransaction(payment, finding.transaction));
    case 'unused':
    case 'spent_otherwise':
      return await report({ run, deps }, lineOfPayment(payment, 'missing'));
    case 'pending':
      return unread('its transaction may still be dropped');
    default:
      return unread(finding.reason);
  }
}

async function look({ chains }: NetworkRun['deps'], payment: Payment): Promise<ChainFinding> {
  try {
    const { transaction: reportedTransaction } = payment;
    const { chainQuery } = readStoredPayment(Object.assign(new Payment(), payment, { reportedTransaction }));
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
