import { raw } from 'objection';
import type { Chains } from '../chains/chains.js';
import { confirmationsOf } from '../chains/networks/networks.js';
import type { Config } from '../config/config.js';
import { afterCommit } from '../db/after-commit.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { Refusal } from '../errors/refusal.js';
import { Payable } from '../payables/model.js';
import { getAnyPayment } from '../payments/find.js';
import { Payment } from '../payments/model.js';
import { earlierNowMs, now } from '../process/clock.js';
import { readStoredPayment } from '../x402/stored-payment.js';
import { type WriteDeps, writeDecision } from './carry-out.js';
import {
  byOperator,
  type Resolution,
  whyChainLeavesItOpen,
  whyRowLeavesItOpen,
} from './policy/by-operator.js';
import type { Proof } from './policy/decision.js';
import { describeFinding } from './policy/describe-finding.js';
import { PAYMENT_OF_TRANSACTION } from './statements/resolve.sql.js';

export async function resolvePayment(deps: WriteDeps, id: string, resolution: Resolution): Promise<Payment> {
  // Within a transaction the locks are kept: the session's comes first, as in every other writer.
  const ofPayment = Payment.query(deps.db).findById(id).select('payableId');
  await Payable.query(deps.db).where('id', ofPayment).forUpdate().select('id');
  // Raising the attempt takes the row from a worker that holds it.
  const payment = await Payment.query(deps.db)
    .patch({ attempt: raw('attempt + 1') })
    .where({ id, status: 'processing' })
    .returning('*')
    .first();
  if (payment === undefined) throw alreadyDecidedRefusal(await getAnyPayment(deps.db, id));
  const { kind } = await writeDecision(deps, payment, byOperator(payment, resolution, { now: now() }));
  if (kind === 'proof_taken' && resolution.kind === 'paid')
    throw paidAnotherRefusal(resolution.transaction, id);
  if (kind !== 'done')
    throw new Refusal('parameter_invalid', `${id} was decided meanwhile. Look at it again.`);
  const session = payment.payableId;
  const line = {
    event: 'payment.resolved_by_operator',
    payment: id,
    session,
    resolution: resolution.kind,
    ...(resolution.kind === 'failed' && {
      reason: resolution.reason,
      unproven: resolution.unproven === true,
    }),
  };
  afterCommit(deps.db, () => deps.logger.warn(line));
  return await getAnyPayment(deps.db, id);
}

function alreadyDecidedRefusal({ id, status }: Payment): Refusal {
  return new Refusal('parameter_invalid', `${id} is decided already: it is ${status}.`);
}

function paidAnotherRefusal(transaction: string, id: string): Refusal {
  return new Refusal('parameter_invalid', `${transaction} paid another payment, not ${id}.`);
}

export async function refuseIfPaidAnother(db: Knex, id: string, transaction: string): Promise<void> {
  await getAnyPayment(db, id);
  const others = await runStatement(db, PAYMENT_OF_TRANSACTION, [id, transaction]);
  if (others.length > 0) throw paidAnotherRefusal(transaction, id);
}

/** The chain's proof that the transaction pays the payment; refuses without one, or before it has its confirmations. */
export async function proofOf(
  { db, chains, config }: { db: Knex; chains: Pick<Chains, 'check'>; config: Pick<Config, 'confirmations'> },
  id: string,
  transaction: string,
): Promise<Proof> {
  const payment = await getAnyPayment(db, id);
  if (payment.status !== 'processing') throw alreadyDecidedRefusal(payment);
  const { chainQuery } = await readStoredPayment(payment);
  const finding = await chains.check({ ...chainQuery, transactionHint: transaction });
  if (finding.kind !== 'paid' || finding.transaction.toLowerCase() !== transaction.toLowerCase())
    throw new Refusal(
      'parameter_invalid',
      `The chain does not show that ${transaction} pays ${id}; it says: ${describeFinding(finding)}. Check the transaction, or add --even-if-not-seen.`,
    );
  const needed = confirmationsOf(config.confirmations, payment.network);
  if (finding.confirmations >= needed) return finding;
  throw new Refusal(
    'parameter_invalid',
    `${transaction} has ${finding.confirmations} of the ${needed} confirmations that are set for its network, and its block can still be replaced. Wait, or add --even-if-not-seen.`,
  );
}

/** The reason why the money of a payment may have moved, or may still; undefined when the chain shows that it cannot. */
export async function whyMoneyMayArrive(
  { db, chains }: { db: Knex; chains: Pick<Chains, 'check'> },
  id: string,
): Promise<string | undefined> {
  const payment = await getAnyPayment(db, id);
  if (payment.status !== 'processing') throw alreadyDecidedRefusal(payment);
  const why = whyRowLeavesItOpen(payment, { now: new Date(earlierNowMs()) });
  if (why !== undefined) return why;
  try {
    const { chainQuery } = await readStoredPayment(payment);
    return whyChainLeavesItOpen(payment, await chains.check(chainQuery));
  } catch (error) {
    return `its chain cannot be asked: ${error instanceof Error ? error.message : error}`;
  }
}

export function mayStillArriveRefusal(id: string, why: string): Refusal {
  return new Refusal(
    'parameter_invalid',
    `${id} can still arrive: ${why}. The session would open again and its buyer could pay twice. Wait, or add --even-if-it-can-still-arrive.`,
  );
}
