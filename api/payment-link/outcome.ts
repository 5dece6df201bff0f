import { findPayment } from '../../shared/payments/find.js';
import type { Payment } from '../../shared/payments/model.js';
import { now, nowMs } from '../../shared/process/clock.js';
import { findLinkedPayable, type LinkedPayable } from '../../shared/settlement/read-link.js';
import { markAnsweredProcessing } from '../../shared/settlement/record-answers.js';
import { describeFailure } from '../../shared/x402/failure-codes.js';
import type { Offer } from '../../shared/x402/match-payment.js';
import type { SettlementResponse } from '../../shared/x402/wire.js';
import { failureOf, type LinkFailure } from './earlier-failure.js';
import {
  alreadyPaid,
  busy,
  claimLost,
  describeEnd,
  type LinkAnswer,
  sellerRefused,
  stillProcessing,
} from './link-answer.js';
import type { LinkDeps } from './link-deps.js';
import { askForPayment, readOffer } from './offer.js';
import { paid } from './receipt.js';

/** A payment that has claimed its session, by this request or an earlier one. */
interface ClaimedPayment {
  sessionId: string;
  paymentId: string;
  /** The offer that was read before the claim, if any. */
  offer?: Offer;
}

/** Waits for the outcome, at most `settleWaitMs` from the arrival of the request. */
export async function awaitOutcome(
  deps: LinkDeps,
  claimed: ClaimedPayment,
  arrivedAtMs: number,
): Promise<LinkAnswer> {
  const { settleWaitMs } = deps.config;
  await deps.settlements.wait(claimed.paymentId, arrivedAtMs + settleWaitMs - nowMs());
  const answer = await answerOutcome(deps, claimed);
  // With SETTLE_WAIT_MS 0 every payment is answered 202, even a payment that is settled already.
  return settleWaitMs === 0 && answer.kind === 'paid' ? stillProcessing() : answer;
}

/** The claim stands whatever happens to this request, so an error while reading the outcome is answered 202. */
export async function answerOutcome(deps: LinkDeps, claimed: ClaimedPayment): Promise<LinkAnswer> {
  const { sessionId, paymentId, offer } = claimed;
  try {
    const session = await findLinkedPayable(deps.db, sessionId);
    if (session === undefined) return stillProcessing();
    if (session.paymentId === paymentId && session.payment?.status === 'processing') {
      const isStillProcessing = await markAnsweredProcessing(deps.db, paymentId);
      // A payment that was decided between the two statements is read again.
      return isStillProcessing ? stillProcessing() : await answerOutcome(deps, claimed);
    }
    const payment =
      session.payment?.id === paymentId ? session.payment : await findPayment(deps.db, paymentId);
    if (payment === undefined) return claimLost();
    if (payment.status === 'failed') return await answerFailure(deps, session, payment, offer);
    if (payment.status !== 'succeeded') return stillProcessing();
    return paid(deps, session, payment);
  } catch (error) {
    const lost = { payment: paymentId, session: sessionId };
    deps.logger.warn({ event: 'payment_link.outcome_unread', ...lost, err: error });
    return stillProcessing();
  }
}

/** Adds the link's end to the failure's message, which says how to pay again. */
function failureWithEnd(session: LinkedPayable, payment: Payment): LinkFailure {
  const failure = failureOf(payment);
  const isOver = session.status === 'expired' || session.expiresAt <= now();
  if (!isOver) return failure;
  const end = describeEnd(session, failure.isUncertain && failure);
  return { ...failure, message: `${failure.message} ${end}` };
}

async function answerFailure(
  deps: LinkDeps,
  session: LinkedPayable,
  payment: Payment,
  known: Offer | undefined,
): Promise<LinkAnswer> {
  const code = payment.failureCode ?? 'payment_failed';
  if (code === 'payment_service_unavailable') return busy();
  const refused = sellerRefused(describeFailure(code));
  if (refused !== undefined) return refused;
  if (code === 'session_already_paid' || session.status === 'complete') return alreadyPaid();
  const offer = known ?? (await readOffer(deps, session));
  if ('kind' in offer) return offer;
  const answer = await askForPayment(deps, session, offer, failureWithEnd(session, payment));
  const failed: SettlementResponse = {
    success: false,
    errorReason: code,
    transaction: '',
    network: payment.network,
    ...(payment.payer !== null && { payer: payment.payer }),
  };
  return answer.kind === 'payment_required' ? { ...answer, failed } : answer;
}
