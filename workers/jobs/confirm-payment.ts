import { LRUCache } from 'lru-cache';
import type { Finding } from '../../shared/chains/finding.js';
import type { Payment } from '../../shared/payments/model.js';
import { nowMs, times } from '../../shared/process/clock.js';
import { carryOut } from '../../shared/settlement/carry-out.js';
import { afterLook, afterProofTaken } from '../../shared/settlement/policy/after-look.js';
import { type TakenPayment, takeToLook } from '../../shared/settlement/take-work.js';
import { inSpan, type Span } from '../../shared/tracing/spans.js';
import type { WorkerDeps } from '../deps/deps.js';
import { again, done, type Outcome } from '../deps/outcome.js';

/** After the claim. */
const UNEXPLAINED_MS = 300_000;

/** Asks the chain what became of a payment, and carries out what that decides. */
export async function confirmPayment(
  deps: WorkerDeps,
  { paymentId }: { paymentId: string },
): Promise<Outcome> {
  const taken = await takeToLook(deps, paymentId);
  if (taken === undefined) return done;
  return await inSpan(taken.span, (span) => confirm(deps, taken, span));
}

async function confirm(
  deps: WorkerDeps,
  { payment, job, rules, urgentUntil, facilitatorRequest, chainQuery }: TakenPayment,
  span: Span,
): Promise<Outcome> {
  const finding = await deps.chains.check(chainQuery, { urgentUntil });
  deps.metrics.chainLook(payment.network, finding.kind);
  if (finding.kind === 'used' || finding.kind === 'searching') alarm(deps, payment, finding);
  let decision = afterLook(payment, { finding }, rules, times());
  while (decision.kind === 'ask_verify') {
    const { kind } = await deps.facilitator.verify(facilitatorRequest);
    decision = afterLook(payment, { finding, isValid: kind === 'valid' }, rules, times());
  }
  // The endpoint was not asked: the look is not over, and its pause does not begin.
  if (decision.kind === 'look_again' && finding.kind === 'unreadable' && finding.againInMs !== undefined) {
    const again = new Date(nowMs() + finding.againInMs);
    if (again < decision.at) decision = { ...decision, at: again };
  }
  span.set({ 'checkout.finding': finding.kind, 'checkout.decision': decision.kind });
  deps.logger.info({
    event: 'payment.looked_up',
    payment: payment.id,
    session: payment.payableId,
    network: payment.network,
    finding: finding.kind,
    decision: decision.kind,
    ...('reason' in finding && { reason: finding.reason }),
  });
  const ifProofTaken =
    decision.kind === 'succeed' ? afterProofTaken(payment, decision.proof.transaction, times()) : undefined;
  const { lookAgainAt } = await carryOut(deps, { payment, job }, decision, { ifProofTaken });
  return lookAgainAt === undefined ? done : again(lookAgainAt);
}

/** Never decided by time, so a person must hear of it; at first an endpoint's index is only a little behind. */
function alarm(
  { logger }: WorkerDeps,
  { id, payableId, network, claimedAt }: Payment,
  { kind, reason }: Finding<'used' | 'searching'>,
): void {
  if (nowMs() < claimedAt.getTime() + UNEXPLAINED_MS || toldLately.has(id)) return;
  toldLately.set(id, true);
  const { event, hint } = ALARMS[kind];
  logger.error({ event, payment: id, session: payableId, network, reason, hint });
}

const toldLately = new LRUCache<string, true>({ max: 1000, ttl: 10 * 60_000 });

const ALARMS = {
  used: {
    event: 'payment.used_unexplained',
    hint: 'The authorization is used, and the endpoint does not show by what. Set RPC_URL to one that answers eth_getLogs.',
  },
  searching: {
    event: 'payment.search_unfinished',
    hint: 'The endpoint does not let the search for the payment end. Set RPC_URL to one that lists the last hours.',
  },
} as const;
