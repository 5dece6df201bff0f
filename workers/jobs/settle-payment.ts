import type { PaymentToSettle } from '../../shared/jobs/jobs.js';
import type { Payment } from '../../shared/payments/model.js';
import { laterNowMs, times } from '../../shared/process/clock.js';
import { carryOut } from '../../shared/settlement/carry-out.js';
import { afterCall, afterNamedTwice } from '../../shared/settlement/policy/after-call.js';
import type { Call } from '../../shared/settlement/policy/answer-case.js';
import { beforeCall, mayStillCall } from '../../shared/settlement/policy/before-call.js';
import type { Decision } from '../../shared/settlement/policy/decision.js';
import { loggedVerdict } from '../../shared/settlement/policy/payment-state.js';
import { type TakenPayment, takeToSettle } from '../../shared/settlement/take-work.js';
import { inSpan, type Span } from '../../shared/tracing/spans.js';
import type { SettleVerdict } from '../../shared/x402/facilitator/settle-verdict.js';
import type { WorkerDeps } from '../deps/deps.js';
import { done, type JobOutcome } from '../deps/job-outcome.js';
import { measureWait } from '../deps/measure-wait.js';
import type { RunCall } from '../settlement/outside-calls.js';

interface AnsweredCall {
  verdict: SettleVerdict;
  startedAt: Date;
}

const PROCESS_WAS_PAUSED: SettleVerdict = { kind: 'not_processed', why: 'taken too long ago' };

/** Asks the facilitator to settle, once, with no transaction open, and carries out what its answer decides. */
export async function settlePayment(
  deps: WorkerDeps,
  { paymentId, requestId }: PaymentToSettle,
  runCall: RunCall = (call) => call(),
): Promise<JobOutcome> {
  const taken = await takeToSettle(deps, paymentId);
  if (taken === undefined) return done;
  return await inSpan(taken.span, async (span) => {
    const tooLate = beforeCall(taken.payment, deps.commits.mayHaveLost(), times());
    if (tooLate !== undefined) {
      const { kind } = await carryOut(deps, taken, tooLate);
      measureWait(deps, taken.payment, { decision: tooLate, written: kind });
    } else logCall(deps, taken.payment, { ...(await settle(deps, taken, runCall)), requestId, span });
    return done;
  });
}

async function settle(
  deps: WorkerDeps,
  { payment, job, settings, facilitatorRequest }: TakenPayment,
  runCall: RunCall,
): Promise<AnsweredCall> {
  const { facilitators } = deps;
  const mayBeSent = (): boolean => mayStillCall(payment, settings, times());
  // The later clock sets `startedAt`: a chain check counts only when its block is later than the call.
  const startedAt = new Date(laterNowMs());
  const answer = await withSlot(deps, payment, async () =>
    mayBeSent()
      ? await runCall(() => facilitators.settleBy(payment.facilitator, facilitatorRequest, mayBeSent))
      : PROCESS_WAS_PAUSED,
  );
  const endedAt = new Date(laterNowMs());
  const isUnsent = answer.kind === 'not_processed' && answer.isUnsent;
  const another = isUnsent ? await facilitators.another(payment.facilitator, facilitatorRequest) : undefined;
  const call: Call = { answer, startedAt, endedAt, commitsMayBeLost: deps.commits.mayHaveLost(), another };
  const decision = afterCall(payment, call, settings, times());
  const verdict = loggedVerdict(payment, answer);
  const settledIn = answer.kind === 'settled' ? believedTransaction(decision) : undefined;
  const ifProofTaken = settledIn === undefined ? undefined : afterNamedTwice(settledIn, call, times());
  const { kind } = await carryOut(deps, { payment, job }, decision, { settledIn, ifProofTaken });
  measureWait(deps, payment, { decision, written: kind });
  return { verdict, startedAt };
}

/** Postpones the call when the payment's network, or its account there, has as many calls in flight as it may. */
async function withSlot(
  { facilitators, settleCalls }: WorkerDeps,
  { facilitator, network, accountId }: Payment,
  call: () => Promise<SettleVerdict>,
): Promise<SettleVerdict> {
  const slot = await settleCalls.takeSlot({
    network: `${facilitators.nameOf(facilitator)} ${network}`,
    accountId,
  });
  if (slot.kind === 'refused')
    return { kind: 'postponed', why: 'other calls wait for their answers', forMs: slot.turnInMs };
  try {
    return await call();
  } finally {
    slot.release();
  }
}

/** Undefined when the policy doubts the success, because its transaction is another payment's. */
function believedTransaction(decision: Decision): string | undefined {
  if (decision.kind === 'succeed') return decision.proof.transaction;
  return ('patch' in decision && decision.patch.reportedTransaction) || undefined;
}

function logCall(
  { facilitators, metrics, logger }: WorkerDeps,
  payment: Payment,
  { verdict, startedAt, requestId, span }: AnsweredCall & { requestId: string | undefined; span: Span },
): void {
  const ms = laterNowMs() - startedAt.getTime();
  const isPostponed = verdict.kind === 'postponed';
  const facilitator = facilitators.nameOf(payment.facilitator);
  if (!isPostponed) metrics.settleCall({ facilitator, verdict: verdict.kind }, ms / 1000);
  span.set({ 'checkout.verdict': verdict.kind, 'checkout.facilitator': facilitator });
  logger.info({
    event: isPostponed ? 'payment.settle_postponed' : 'payment.settle_answered',
    payment: payment.id,
    session: payment.payableId,
    network: payment.network,
    facilitator,
    ...(requestId !== undefined && { request_id: requestId }),
    verdict: verdict.kind,
    ...('why' in verdict && { why: verdict.why }),
    ...('reason' in verdict && { reason: verdict.reason }),
    call: payment.settleCalls,
    ms,
  });
}
