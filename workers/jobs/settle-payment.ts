import type { ClaimedPayment } from '../../shared/jobs/jobs.js';
import type { Payment } from '../../shared/payments/model.js';
import { now, nowMs } from '../../shared/process/clock.js';
import { carryOut, noteSettled, workAfter } from '../../shared/settlement/carry-out.js';
import { afterCall } from '../../shared/settlement/policy/after-call.js';
import type { Call } from '../../shared/settlement/policy/answer-case.js';
import { beforeCall, mayStillCall } from '../../shared/settlement/policy/before-call.js';
import type { Decision } from '../../shared/settlement/policy/decision.js';
import { LOOK_BEFORE_REFUSAL_MS } from '../../shared/settlement/policy/limits.js';
import { provenVerdict } from '../../shared/settlement/policy/proven-verdict.js';
import { findPayment } from '../../shared/settlement/read-link.js';
import { beginSettlement } from '../../shared/settlement/take-work.js';
import type { VerdictResult } from '../../shared/settlement/write-verdict.js';
import { inSpan, type Span } from '../../shared/tracing/spans.js';
import type { SettleVerdict } from '../../shared/x402/settle-verdict.js';
import type { WorkerDeps } from '../deps/deps.js';
import { done, type Outcome } from '../deps/outcome.js';
import { carryOutDeps, ring, rulesFor, spanOf, times, writeOutcome } from './payment-work.js';
import { chainQuery, facilitatorRequest } from './stored-payment.js';

/** Asks the facilitator to settle, once, with no transaction open, and writes down what that proves. */
export async function settlePayment(
  deps: WorkerDeps,
  { paymentId, requestId }: ClaimedPayment,
): Promise<Outcome> {
  const payment = await beginSettlement(deps.db, paymentId, deps.config.facilitator.settleTimeoutMs);
  if (payment === undefined) return done;
  return await inSpan(spanOf('settle-payment', payment), (span) =>
    settle(deps, payment, { requestId, span }),
  );
}

async function settle(
  deps: WorkerDeps,
  payment: Payment,
  { requestId, span }: { requestId: string | undefined; span: Span },
): Promise<Outcome> {
  const tooLate = beforeCall(payment, times());
  if (tooLate !== undefined) {
    await carryOutAndRing(deps, payment, tooLate);
    return done;
  }
  const startedAt = now();
  const call: Call = { answer: await ask(deps, payment), startedAt, endedAt: now() };
  await writeOutcome(deps, payment, async () => {
    const result = await carryOutAndRing(deps, payment, await decide(deps, payment, call));
    if (result === 'superseded' && call.answer.kind === 'settled')
      await passOn(deps, payment, call.answer.transaction);
  });
  tellCall(deps, payment, call, { requestId, span });
  return done;
}

function tellCall(
  { metrics, logger }: WorkerDeps,
  payment: Payment,
  { answer, startedAt }: Call,
  { requestId, span }: { requestId: string | undefined; span: Span },
): void {
  const verdict = provenVerdict(payment, answer);
  const ms = nowMs() - startedAt.getTime();
  const isPostponed = verdict.kind === 'postponed';
  if (!isPostponed) metrics.settleCall(verdict.kind, ms / 1000);
  span.set({ 'checkout.verdict': verdict.kind });
  logger.info({
    event: isPostponed ? 'payment.settle_postponed' : 'payment.settle_answered',
    payment: payment.id,
    session: payment.checkoutSessionId,
    network: payment.network,
    ...(requestId !== undefined && { request_id: requestId }),
    verdict: verdict.kind,
    ...('why' in verdict && { why: verdict.why }),
    ...('reason' in verdict && { reason: verdict.reason }),
    call: payment.settleCalls,
    ms,
  });
}

async function ask(deps: WorkerDeps, payment: Payment): Promise<SettleVerdict> {
  const mayBeSent = (): boolean => mayStillCall(payment, rulesFor(deps.config, payment), times());
  if (!mayBeSent()) return { kind: 'not_processed', why: 'taken too long ago' };
  return await deps.facilitator.settle(facilitatorRequest(payment), mayBeSent);
}

async function decide(deps: WorkerDeps, payment: Payment, call: Call): Promise<Decision> {
  const decision = afterCall(payment, call, rulesFor(deps.config, payment), times());
  if (decision.kind !== 'look_first') return decision;
  const look = await deps.chains.lookUp(chainQuery(payment), { withinMs: LOOK_BEFORE_REFUSAL_MS });
  deps.metrics.chainLook(payment.network, look.kind);
  return await decide(deps, payment, { ...call, look });
}

async function carryOutAndRing(
  deps: WorkerDeps,
  payment: Payment,
  decision: Decision,
): Promise<VerdictResult> {
  const result = await carryOut(carryOutDeps(deps), payment, decision);
  const next = workAfter(payment, decision);
  if (result === 'done' && next !== undefined) await ring(deps, payment, next);
  return result;
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
