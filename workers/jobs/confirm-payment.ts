import { LRUCache } from 'lru-cache';
import type { Finding } from '../../shared/chains/finding.js';
import type { Payment } from '../../shared/payments/model.js';
import { nowMs } from '../../shared/process/clock.js';
import { carryOut, workAfter } from '../../shared/settlement/carry-out.js';
import { afterLook, afterProofTaken, type Look } from '../../shared/settlement/policy/after-look.js';
import type { Decision } from '../../shared/settlement/policy/decision.js';
import { beginLook } from '../../shared/settlement/take-work.js';
import { inSpan, type Span } from '../../shared/tracing/spans.js';
import type { WorkerDeps } from '../deps/deps.js';
import { again, done, type Outcome } from '../deps/outcome.js';
import { carryOutDeps, ring, rulesFor, spanOf, times, writeOutcome } from './payment-work.js';
import { chainQuery, facilitatorRequest } from './stored-payment.js';

/** After the claim. */
const UNEXPLAINED_MS = 300_000;

/** Asks the chain what became of a payment, and carries out what that decides. */
export async function confirmPayment(
  deps: WorkerDeps,
  { paymentId }: { paymentId: string },
): Promise<Outcome> {
  const payment = await beginLook(deps.db, paymentId);
  if (payment === undefined) return done;
  return await inSpan(spanOf('confirm-payment', payment), (span) => confirm(deps, payment, span));
}

async function confirm(deps: WorkerDeps, payment: Payment, span: Span): Promise<Outcome> {
  const finding = await deps.chains.lookUp(chainQuery(payment));
  deps.metrics.chainLook(payment.network, finding.kind);
  const decision = await decide(deps, payment, { finding });
  span.set({ 'checkout.finding': finding.kind, 'checkout.decision': decision.kind });
  deps.logger.info({
    event: 'payment.looked_up',
    payment: payment.id,
    session: payment.checkoutSessionId,
    network: payment.network,
    finding: finding.kind,
    decision: decision.kind,
    ...('reason' in finding && { reason: finding.reason }),
  });
  if (finding.kind === 'used' || finding.kind === 'searching') alarm(deps, payment, finding);
  return await writeOutcome(deps, payment, () => carryOutAndRing(deps, payment, decision));
}

async function decide(deps: WorkerDeps, payment: Payment, look: Look): Promise<Decision> {
  const decision = afterLook(payment, look, rulesFor(deps.config, payment), times());
  if (decision.kind !== 'ask_verify') return decision;
  const { kind } = await deps.facilitator.verify(facilitatorRequest(payment));
  return await decide(deps, payment, { ...look, isValid: kind === 'valid' });
}

async function carryOutAndRing(deps: WorkerDeps, payment: Payment, decision: Decision): Promise<Outcome> {
  const result = await carryOut(carryOutDeps(deps), payment, decision);
  if (result === 'proof_taken' && decision.kind === 'succeed') {
    const { transaction } = decision.proof;
    const { id, checkoutSessionId: session } = payment;
    deps.logger.error({ event: 'payment.proof_taken', payment: id, session, transaction });
    return await carryOutAndRing(deps, payment, afterProofTaken(payment, transaction, times()));
  }
  const next = workAfter(payment, decision);
  if (result !== 'done' || next === undefined) return done;
  if (next.stage !== 'settle') return again(next.dueAt);
  await ring(deps, payment, next);
  return done;
}

/** Never decided by time, so a person must hear of it; at first an endpoint's index is only a little behind. */
function alarm(
  { logger }: WorkerDeps,
  { id, checkoutSessionId, network, claimedAt }: Payment,
  { kind, reason }: Finding<'used' | 'searching'>,
): void {
  if (nowMs() < claimedAt.getTime() + UNEXPLAINED_MS || toldLately.has(id)) return;
  toldLately.set(id, true);
  const { event, hint } = ALARMS[kind];
  logger.error({ event, payment: id, session: checkoutSessionId, network, reason, hint });
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
