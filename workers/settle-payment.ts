import type { ChainFinding } from '../shared/chains/finding.js';
import { now, nowMs } from '../shared/clock.js';
import { nextWatch, SETTLE_MARGIN_MS } from '../shared/domain/payment.js';
import type { Payment } from '../shared/models/payment.js';
import type { ClaimedPayment } from '../shared/queues/jobs.js';
import { findPayment } from '../shared/services/payments/read-link.js';
import { succeedSettled } from '../shared/services/payments/succeed-together.js';
import {
  AFTER_TIMEOUT_MS,
  beginSettlement,
  noteSettled,
  type PaymentToSettle,
  postpone,
} from '../shared/services/payments/take-work.js';
import { failPayment, type VerdictResult } from '../shared/services/payments/write-verdict.js';
import { afterUnclearAttempt, type SettleVerdict } from '../shared/x402/facilitator-answers.js';
import { confirmationsFor } from './confirmations.js';
import { saidSettled } from './decide-payment.js';
import type { WorkerDeps } from './deps.js';
import { inWords } from './finding-in-words.js';
import { done, type Outcome } from './outcome.js';
import { ring } from './ring.js';
import { chainQuery, facilitatorRequest } from './stored-payment.js';
import { verdictDeps } from './verdict-deps.js';
import { writeOutcome } from './write-outcome.js';

/** How often a call that was surely not processed is repeated, and after which pause. */
const MAX_CALLS = 3;
const RETRY_MS = 1000;
/** When to look at the chain after an unclear answer. */
const FIRST_LOOK_MS = 1000;
/** A call must be over so long before another worker may take the payment. */
const STOOD_STILL_MARGIN_MS = 5000;
/** How long the chain is looked at before a refusal is told that a used authorization would get too. */
const LOOK_BEFORE_REFUSAL_MS = 2000;

/** Asks the facilitator to settle, once, with no transaction open, and writes down what that proves. */
export async function settlePayment(
  deps: WorkerDeps,
  { paymentId, requestId }: ClaimedPayment,
): Promise<Outcome> {
  const payment = await beginSettlement(deps.db, paymentId, deps.config.facilitator.settleTimeoutMs);
  if (payment === undefined) return done;
  if (payment.settleCalls > 1 && isAboutToEnd(payment)) {
    await leaveUnasked(deps, payment);
    return done;
  }
  const startedAtMs = nowMs();
  const answer = await ask(deps, payment);
  const endedAt = endOf(deps, answer, startedAtMs);
  // Once something was unclear, or was said to be settled, a failure proves nothing any more.
  const inDoubt = payment.settleUnclear || payment.reportedTransaction !== null;
  const verdict = inDoubt ? afterUnclearAttempt(answer) : answer;
  await writeOutcome(deps, payment, () => write(deps, payment, verdict, endedAt));
  deps.metrics.settleCall(verdict.kind, (nowMs() - startedAtMs) / 1000);
  deps.logger.info({
    event: 'payment.settle_answered',
    payment: payment.id,
    session: payment.checkoutSessionId,
    network: payment.network,
    ...(requestId !== undefined && { request_id: requestId }),
    verdict: verdict.kind,
    ...('why' in verdict && { why: verdict.why }),
    ...('reason' in verdict && { reason: verdict.reason }),
    call: payment.settleCalls,
    ms: nowMs() - startedAtMs,
  });
  return done;
}

/** A process that stood still since it took the payment may have lost it to another by now: then nothing is sent. */
async function ask({ facilitator, config }: WorkerDeps, payment: PaymentToSettle): Promise<SettleVerdict> {
  const endsBy = nowMs() + config.facilitator.settleTimeoutMs + STOOD_STILL_MARGIN_MS;
  if (payment.dueAt === null || endsBy > payment.dueAt.getTime()) {
    return { kind: 'not_processed', why: 'taken too long ago' };
  }
  return await facilitator.settle(facilitatorRequest(payment));
}

/** Too late to ask once more: what is in doubt goes to the chain, the rest may be sent again by the buyer. */
async function leaveUnasked(deps: WorkerDeps, payment: Payment): Promise<void> {
  const said = 'not asked again: the authorization is about to end';
  if (payment.settleUnclear || payment.reportedTransaction !== null) {
    await lookNext(deps, payment, nowMs(), said, { settleEndedAt: now() });
    return;
  }
  const failure = { code: 'payment_service_unavailable', released: true, watchAt: undefined };
  await failPayment(verdictDeps(deps), payment, failure, { source: 'service', said });
}

function isAboutToEnd(payment: Payment): boolean {
  return nowMs() > payment.validUntil.getTime() - SETTLE_MARGIN_MS;
}

/** A call that was given up or cut off may go on at the facilitator, until nobody can wait for it any more. */
function endOf({ config }: WorkerDeps, answer: SettleVerdict, startedAtMs: number): Date {
  const goesOn = answer.kind === 'unknown' && answer.mayGoOn;
  const longestMs = startedAtMs + config.facilitator.settleTimeoutMs + AFTER_TIMEOUT_MS;
  return new Date(goesOn ? longestMs : nowMs());
}

async function write(
  deps: WorkerDeps,
  payment: PaymentToSettle,
  verdict: SettleVerdict,
  endedAt: Date,
): Promise<void> {
  switch (verdict.kind) {
    case 'settled': {
      const { transaction, payer } = verdict;
      const said = `settled in ${transaction}`;
      if (confirmationsFor(deps.config, payment.network) > 0) {
        const learnt = { settleEndedAt: endedAt, reportedTransaction: transaction, settleUnclear: false };
        if (!(await lookNext(deps, payment, nowMs(), said, learnt))) await passOn(deps, payment, transaction);
        return;
      }
      const observation = { source: 'facilitator' as const, said };
      const result = await succeedSettled(verdictDeps(deps), { payment, transaction, payer, observation });
      if (result === 'superseded') await passOn(deps, payment, transaction);
      else tellOf(deps, payment, result);
      return;
    }
    case 'rejected': {
      const finding = verdict.ifUsedToo ? await lookOnce(deps, payment) : undefined;
      const said = [verdict.reason, finding && `the chain: ${inWords(finding)}`].filter(Boolean).join('; ');
      if (finding !== undefined && finding.kind !== 'unused' && finding.kind !== 'unreadable') {
        const learnt = { settleEndedAt: endedAt, settleUnclear: true };
        await lookNext(deps, payment, nowMs(), said, learnt);
        return;
      }
      const watchAt = nextWatch(now(), payment.validUntil, now());
      const failure = { code: verdict.code, released: false, watchAt };
      const observation = { source: 'facilitator' as const, said };
      tellOf(deps, payment, await failPayment(verdictDeps(deps), payment, failure, observation));
      return;
    }
    case 'not_processed':
      return await retryOrGiveUp(deps, payment, verdict.why);
    case 'unknown': {
      const { transaction } = verdict;
      const learnt = {
        settleEndedAt: endedAt,
        settleUnclear: !saidSettled(payment),
        ...(transaction !== undefined && { reportedTransaction: transaction }),
      };
      await lookNext(deps, payment, nowMs() + FIRST_LOOK_MS, `unclear: ${verdict.why}`, learnt);
      return;
    }
  }
}

/** What cannot be read in that time is no reason to let the buyer wait. */
async function lookOnce({ chains }: WorkerDeps, payment: Payment): Promise<ChainFinding> {
  return await chains.lookUp(chainQuery(payment), { withinMs: LOOK_BEFORE_REFUSAL_MS });
}

function tellOf({ ringDecided }: WorkerDeps, payment: Payment, verdict: VerdictResult): void {
  if (verdict === 'done') ringDecided(payment.id);
}

/**
 * Another worker has the payment by now, and must know what was said. Or nobody has: a Postgres that failed over to a
 * copy without the last commits has never heard of it, and only a person can help.
 */
async function passOn({ db, logger }: WorkerDeps, payment: Payment, transaction: string): Promise<void> {
  await noteSettled(db, payment.id, transaction);
  if ((await findPayment(db, payment.id)) !== undefined) return;
  logger.error({
    event: 'payment.gone',
    payment: payment.id,
    session: payment.checkoutSessionId,
    network: payment.network,
    token: payment.token,
    token_amount: payment.tokenAmount,
    pay_to: payment.payTo,
    transaction,
    hint: 'The money has moved, and Postgres has lost the payment. Was it restored, or did it fail over without the last commits?',
  });
}

/** False when another has the payment by now. */
async function lookNext(
  deps: WorkerDeps,
  payment: Payment,
  atMs: number,
  said: string,
  learnt: { settleEndedAt: Date; settleUnclear?: boolean; reportedTransaction?: string },
): Promise<boolean> {
  const next = { stage: 'confirm' as const, dueAt: new Date(atMs) };
  const isMine = await postpone(deps.db, payment, next, { source: 'facilitator', said }, learnt);
  if (isMine) await ring(deps, payment, next);
  return isMine;
}

/** The facilitator surely did nothing: ask again soon, or let the buyer try later with the same signature. */
async function retryOrGiveUp(deps: WorkerDeps, payment: Payment, why: string): Promise<void> {
  const observation = { source: 'facilitator' as const, said: `not processed: ${why}` };
  const timeIsUp = nowMs() + RETRY_MS > payment.validUntil.getTime() - SETTLE_MARGIN_MS;
  if (payment.settleCalls >= MAX_CALLS || timeIsUp) {
    const failure = { code: 'payment_service_unavailable', released: true, watchAt: undefined };
    tellOf(deps, payment, await failPayment(verdictDeps(deps), payment, failure, observation));
    return;
  }
  const next = { stage: 'settle' as const, dueAt: new Date(nowMs() + RETRY_MS * payment.settleCalls) };
  if (await postpone(deps.db, payment, next, observation, { settleEndedAt: now() }))
    await ring(deps, payment, next);
}
