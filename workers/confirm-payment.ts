import type { ChainFinding } from '../shared/chains/finding.js';
import { now, nowMs } from '../shared/clock.js';
import {
  BETWEEN_LOOKS_MS,
  decisionTimes,
  nextWatch,
  type Observation,
  SETTLE_MARGIN_MS,
} from '../shared/domain/payment.js';
import type { Payment } from '../shared/models/payment.js';
import { beginLook, type NextWork, postpone } from '../shared/services/settlement.js';
import { failPayment, succeedPayment } from '../shared/services/verdicts.js';
import { confirmationsFor } from './confirmations.js';
import type { WorkerDeps } from './deps.js';
import { again, done, type Outcome } from './outcome.js';
import { ring } from './ring.js';
import { chainQuery, facilitatorRequest } from './stored-payment.js';
import { verdictDeps } from './verdict-deps.js';

/** Pauses between looks, the last one again and again. */
const LOOK_PAUSES_MS = [2000, 4000, 8000, 15_000, 30_000];
/** While a transaction is seen and waits for its confirmations. */
const CONFIRMING_MS = 2000;
/** How often a payload goes to `/settle` in all. */
const MAX_SETTLE_CALLS = 6;
const REPORTED_PAUSE_MS = 30_000;

/** What to do with a payment after one look at its chain. */
type Decision =
  | { kind: 'succeed'; finding: Extract<ChainFinding, { kind: 'paid' }> }
  | { kind: 'fail'; code: string; watchAt: Date | undefined }
  | { kind: 'settle_again' }
  | { kind: 'look_again'; at: Date; unusedSeenAt?: Date }
  | { kind: 'stop_watching' };

/**
 * Asks the chain what became of a payment. Nothing is guessed: a payment succeeds on proof of its transfer, fails when
 * its money surely can't move any more (or, if no chain can be read, long after that), and is watched on when in doubt.
 */
export async function confirmPayment(
  deps: WorkerDeps,
  { paymentId }: { paymentId: string },
): Promise<Outcome> {
  const payment = await beginLook(deps.db, paymentId);
  if (payment === undefined) return done;
  const finding = await deps.chains.lookUp(chainQuery(payment));
  const decision =
    payment.status === 'failed' ? decideLate(payment, finding) : await decide(deps, payment, finding);
  deps.logger.info({
    event: 'payment.looked_up',
    payment: payment.id,
    session: payment.checkoutSessionId,
    network: payment.network,
    finding: finding.kind,
    decision: decision.kind,
    ...('reason' in finding && { reason: finding.reason }),
  });
  return await carryOut(deps, payment, decision, observationOf(finding));
}

async function decide(deps: WorkerDeps, payment: Payment, finding: ChainFinding): Promise<Decision> {
  switch (finding.kind) {
    case 'paid': {
      const enough = finding.confirmations >= Math.max(1, confirmationsFor(deps.config, payment.network));
      return enough ? { kind: 'succeed', finding } : { kind: 'look_again', at: inMs(CONFIRMING_MS) };
    }
    case 'pending':
      return { kind: 'look_again', at: inMs(CONFIRMING_MS) };
    case 'spent_otherwise':
      return { kind: 'fail', code: 'invalid_transaction_state', watchAt: undefined };
    case 'unused':
      return await decideUnused(deps, payment, finding);
    case 'unreadable':
      return await decideUnreadable(deps, payment);
  }
}

/** A look counts only if its block is later than the end of the last `/settle` call. */
async function decideUnused(
  deps: WorkerDeps,
  payment: Payment,
  finding: Extract<ChainFinding, { kind: 'unused' }>,
): Promise<Decision> {
  const counts = finding.chainTime > lastSettleEnd(deps, payment);
  if (!counts) return { kind: 'look_again', at: nextLook(payment) };
  if (finding.exhausted) return { kind: 'fail', code: failureCode(payment), watchAt: undefined };
  const { endsSoon, giveUpAt } = decisionTimes(payment.validUntil, lastSettleEnd(deps, payment));
  if (!endsSoon && now() >= giveUpAt) {
    const { unusedSeenAt } = payment;
    if (unusedSeenAt === null) return { kind: 'look_again', at: inMs(BETWEEN_LOOKS_MS), unusedSeenAt: now() };
    const secondLookAt = unusedSeenAt.getTime() + BETWEEN_LOOKS_MS;
    if (nowMs() < secondLookAt) return { kind: 'look_again', at: new Date(secondLookAt) };
    return { kind: 'fail', code: failureCode(payment), watchAt: nextWatch(now(), payment.validUntil, now()) };
  }
  return maySettleAgain(payment) ? { kind: 'settle_again' } : { kind: 'look_again', at: nextLook(payment) };
}

/** Without the chain, the facilitator's `/verify` can still say that the payload is unused: then it may be settled again. */
async function decideUnreadable(deps: WorkerDeps, payment: Payment): Promise<Decision> {
  const { giveUpAt } = decisionTimes(payment.validUntil, lastSettleEnd(deps, payment));
  if (now() >= giveUpAt) {
    return { kind: 'fail', code: failureCode(payment), watchAt: nextWatch(now(), payment.validUntil, now()) };
  }
  if (maySettleAgain(payment)) {
    const verdict = await deps.facilitator.verify(facilitatorRequest(payment));
    if (verdict.kind === 'valid') return { kind: 'settle_again' };
  }
  return { kind: 'look_again', at: nextLook(payment) };
}

function decideLate(payment: Payment, finding: ChainFinding): Decision {
  if (finding.kind === 'paid') return { kind: 'succeed', finding };
  const isOver = finding.kind === 'spent_otherwise' || (finding.kind === 'unused' && finding.exhausted);
  const at = isOver ? undefined : nextWatch(now(), payment.validUntil, payment.failedAt ?? payment.claimedAt);
  return at === undefined ? { kind: 'stop_watching' } : { kind: 'look_again', at };
}

async function carryOut(
  deps: WorkerDeps,
  payment: Payment,
  decision: Decision,
  observation: Omit<Observation, 'at'>,
): Promise<Outcome> {
  switch (decision.kind) {
    case 'succeed': {
      const { transaction, payer, proofIndex } = decision.finding;
      const result = await succeedPayment(
        verdictDeps(deps),
        payment,
        { transaction, payer, proofIndex },
        observation,
      );
      if (result !== 'proof_taken') return done;
      deps.logger.error({ event: 'payment.proof_taken', payment: payment.id, transaction });
      return await goOn(
        deps,
        payment,
        { stage: stageOf(payment), dueAt: nextLook(payment) },
        {
          source: 'service',
          said: `the transfer in ${transaction} proves another payment`,
        },
      );
    }
    case 'fail':
      await failPayment(verdictDeps(deps), payment, { ...decision, released: false }, observation);
      return done;
    case 'settle_again':
      return await goOn(deps, payment, { stage: 'settle', dueAt: now() }, observation);
    case 'look_again': {
      const { unusedSeenAt } = decision;
      const progress = unusedSeenAt && { unusedSeenAt };
      return await goOn(
        deps,
        payment,
        { stage: stageOf(payment), dueAt: decision.at },
        observation,
        progress,
      );
    }
    case 'stop_watching':
      await postpone(deps.db, payment, undefined, observation);
      return done;
  }
}

async function goOn(
  deps: WorkerDeps,
  payment: Payment,
  next: NextWork,
  observation: Omit<Observation, 'at'>,
  progress: { unusedSeenAt?: Date } = {},
): Promise<Outcome> {
  const isMine = await postpone(deps.db, payment, next, observation, progress);
  if (!isMine) return done;
  if (next.stage !== 'settle') return again(next.dueAt);
  await ring(deps, payment, next);
  return done;
}

function maySettleAgain(payment: Payment): boolean {
  const timeIsLeft = nowMs() < payment.validUntil.getTime() - SETTLE_MARGIN_MS;
  // A facilitator that named a transaction has sent one: it gets time to land before the payload goes out again.
  const pauseMs = payment.reportedTransaction === null ? 0 : REPORTED_PAUSE_MS;
  const endedMs = payment.settleEndedAt?.getTime() ?? 0;
  return timeIsLeft && payment.settleCalls < MAX_SETTLE_CALLS && nowMs() >= endedMs + pauseMs;
}

/** A call that never ended counts as ended when it surely had. */
function lastSettleEnd({ config }: WorkerDeps, payment: Payment): Date {
  if (payment.settleEndedAt !== null) return payment.settleEndedAt;
  const asked = payment.settleAskedAt ?? payment.claimedAt;
  return new Date(asked.getTime() + config.facilitator.settleTimeoutMs);
}

function nextLook(payment: Payment): Date {
  const looks = payment.attempt - payment.settleCalls - 1;
  return inMs(LOOK_PAUSES_MS[Math.min(Math.max(looks, 0), LOOK_PAUSES_MS.length - 1)] ?? 30_000);
}

function inMs(ms: number): Date {
  return new Date(nowMs() + ms);
}

function stageOf(payment: Payment): 'confirm' | 'watch' {
  return payment.status === 'failed' ? 'watch' : 'confirm';
}

function failureCode(payment: Payment): string {
  return payment.failureCode ?? 'unexpected_settle_error';
}

function observationOf(finding: ChainFinding): Omit<Observation, 'at'> {
  switch (finding.kind) {
    case 'paid':
      return { source: 'chain', said: `paid in ${finding.transaction}` };
    case 'pending':
      return { source: 'chain', said: `pending in ${finding.transaction}` };
    case 'spent_otherwise':
      return { source: 'chain', said: `used up by ${finding.transaction} without paying` };
    case 'unused':
      return { source: 'chain', said: finding.exhausted ? 'unused, and can never be used' : 'unused' };
    case 'unreadable':
      return { source: 'chain', said: `not readable: ${finding.reason}` };
  }
}
