import type { ChainFinding } from '../chains/finding.js';
import { runStatement } from '../db/statement.js';
import { Payment } from '../payments/model.js';
import { nowMs } from '../process/clock.js';
import { createdAt, lowestIdAt } from '../values/ids.js';
import { readStoredPayment } from '../x402/stored-payment.js';
import { isSameAddress } from './books.js';
import { report } from './judge-arrivals.js';
import type { Line } from './line.js';
import { type ReadList, readPosition, writePosition } from './positions.js';
import { type NetworkRun, requireTime } from './run.js';
import { SUCCEEDED_PAYMENTS } from './statements/books.sql.js';

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
  const values = [after, before, network, run.accountId ?? null, PAGE];
  const rows = await runStatement<object>(deps.db, SUCCEEDED_PAYMENTS, values);
  return rows.map((row) => Payment.fromDatabaseJson(row as Payment));
}

async function checkOne({ run, deps, network }: NetworkRun, payment: Payment): Promise<void> {
  const unread = (reason: string): void =>
    void run.summary.unread.push({ network, payment: payment.id, reason });
  const finding = await look(deps, payment);
  switch (finding.kind) {
    case 'paid': {
      const isSame =
        payment.transaction !== null && isSameAddress(network, payment.transaction, finding.transaction);
      const line = lineOfPayment(payment, isSame ? 'matched' : 'different');
      return await report(
        { run, deps },
        isSame ? line : { ...line, transaction: finding.transaction, differs: ['transaction'] },
      );
    }
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
    return await chains.check(chainQuery, { withinMs: CHECK_WITHIN_MS });
  } catch (error) {
    return { kind: 'unreadable', reason: error instanceof Error ? error.message : String(error) };
  }
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
